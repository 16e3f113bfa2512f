from django.urls import include, path

from arena.audit import page as audit
from arena.data.uploads import views as uploads
from arena.people import anonymising, members, rater_data, raters
from arena.studies import contents, lifecycle, progress, requirements, self_naming, setting_up

_study = [
    path("", setting_up.study, name="operate-study"),
    path("guidelines/", setting_up.guidelines, name="operate-guidelines"),
    path("rating/", setting_up.rating, name="operate-rating"),
    path("prompts/", contents.prompts, name="operate-prompts"),
    path("prompts/<int:prompt>/", contents.prompt, name="operate-prompt"),
    path("requirements/", requirements.requirements, name="operate-requirements"),
    path("requirements/<int:prompt>/", requirements.prompt, name="operate-prompt-requirements"),
    path("requirements/<int:prompt>/<int:question>/", requirements.requirement, name="operate-requirement"),
    path("contestants/", contents.contestants, name="operate-contestants"),
    path("contestants/<int:contestant>/", contents.contestant, name="operate-contestant"),
    path("answers/", contents.completions, name="operate-completions"),
    path("answers/missing.csv", contents.holes, name="operate-holes"),
    path("pairs/", contents.pairs, name="operate-pairs"),
    path("pairs/<int:pair>/", contents.known_answer, name="operate-pair"),
    path("names/", self_naming.names, name="operate-names"),
    path("publish/", setting_up.publish, name="operate-publish"),
    path("import/", uploads.upload, name="operate-import"),
    path("import/<int:job>/", uploads.job, name="operate-import-job"),
    path("import/<int:job>/progress/", uploads.job_progress, name="operate-import-progress"),
    path("import/<int:job>/errors.csv", uploads.job_errors, name="operate-import-errors"),
    path("people/", members.people, name="operate-people"),
    path("people/links/<int:link>/withdraw/", members.withdraw_link, name="operate-withdraw"),
    path("people/<int:member>/role/", members.role, name="operate-role"),
    path("people/<int:member>/trained/", members.trained, name="operate-trained"),
    path("people/<int:rater>/remove-details/", anonymising.remove_details, name="operate-remove-details"),
    path("progress/", progress.progress, name="operate-progress"),
    path("progress/pairs/", progress.pairs, name="operate-progress-pairs"),
    path("progress/flags/", progress.flags, name="operate-flags"),
    path("progress/flags/<int:flag>/", progress.settle, name="operate-settle"),
    path("state/", lifecycle.state, name="operate-state"),
    path("state/address/", lifecycle.move, name="operate-move"),
    path("state/delete/", lifecycle.delete, name="operate-delete"),
    path("export/", rater_data.rater_data, name="operate-export"),
    path("raters.<slug:form>", rater_data.rater_file, name="operate-rater-file"),
    path("answers-rated.<slug:form>", rater_data.text_file, name="operate-text-file"),
]

urlpatterns = [
    path("", setting_up.studies, name="operate"),
    path("new/", setting_up.new, name="operate-new"),
    path("raters/", raters.raters, name="operate-all-raters"),
    path("raters/<int:rater>/pause/", raters.pause_everywhere, name="operate-pause-everywhere"),
    path("groups/", raters.groups, name="operate-groups"),
    path("groups/<int:group>/", raters.group, name="operate-group"),
    path("audit/", audit.audit, name="operate-audit"),
    path("audit.csv", audit.audit_file, {"form": "csv"}, name="operate-audit-csv"),
    path("audit.jsonl", audit.audit_file, {"form": "jsonl"}, name="operate-audit-jsonl"),
    path("keys/", raters.keys, name="operate-keys"),
    path("keys/<int:key>/revoke/", raters.revoke, name="operate-revoke"),
    path("<slug:slug>/", include(_study)),
]
