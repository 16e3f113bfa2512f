"""The operator's pages in Django's admin: what is compared, who compares, and what they said."""

from django.contrib import admin

from arena.admin_answers import AssignmentAdmin, ComparisonAdmin
from arena.admin_raters import GroupAdmin, InvitationAdmin, MembershipAdmin, RaterAdmin
from arena.admin_studies import StudyAdmin
from arena.admin_texts import CompletionAdmin, ContestantAdmin, PairAdmin, PromptAdmin
from arena.admin_tokens import TokenAdmin
from arena.models import (
    ApiToken,
    Assignment,
    Comparison,
    Completion,
    Contestant,
    Invitation,
    Membership,
    Pair,
    Prompt,
    Rater,
    RaterGroup,
    Study,
)

admin.site.site_header = "Likert Arena"
admin.site.site_title = "Likert Arena"
admin.site.index_title = "For operators"

admin.site.register(Study, StudyAdmin)
admin.site.register(Prompt, PromptAdmin)
admin.site.register(Contestant, ContestantAdmin)
admin.site.register(Completion, CompletionAdmin)
admin.site.register(Pair, PairAdmin)
admin.site.register(Rater, RaterAdmin)
admin.site.register(RaterGroup, GroupAdmin)
admin.site.register(Membership, MembershipAdmin)
admin.site.register(Invitation, InvitationAdmin)
admin.site.register(ApiToken, TokenAdmin)
admin.site.register(Assignment, AssignmentAdmin)
admin.site.register(Comparison, ComparisonAdmin)
