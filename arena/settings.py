"""Settings from the environment. docs/settings.md describes every variable."""

import os
from pathlib import Path

from environs import Env, validate

from arena import __version__
from arena.process.environment import (
    BROKER_SECONDS,
    ImproperEnvironment,
    cache_for,
    local_hosts,
    local_secret_key,
    local_url,
    mail_server,
    openid_providers,
    parse_database_url,
    public_url,
    require_in_production,
    words,
)

# Read when NumPy is loaded: its own threads get in the way of those of the server and the worker. With three
# processes at work on two cores, a fit of 200 contestants took 1.7 s with them and 0.03 s without.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

env = Env()
ONE_OR_MORE = validate.Range(min=1)
MORE_THAN_NONE = validate.Range(min=0, min_inclusive=False)
BASE_DIR = Path(__file__).resolve().parent.parent

# --- Where it runs -----------------------------------------------------------------------------------------
ARENA_ENV = env.str("ARENA_ENV", "") or "local"
if ARENA_ENV not in {"local", "production"}:
    raise ImproperEnvironment(f'ARENA_ENV is "{ARENA_ENV}"; use local or production.')
PRODUCTION = ARENA_ENV == "production"
if PRODUCTION:
    require_in_production("SECRET_KEY", "ALLOWED_HOSTS", "DATABASE_URL", "BROKER_URL")

VERSION = __version__
# Set by the installed program. Sentences that name a command say how it begins.
ARENA_HOME = env.str("ARENA_HOME", "")
COMMAND, MAKE = ("likert-arena", "likert-arena") if ARENA_HOME else ("python manage.py", "make")
VAR_DIR = Path(env.str("VAR_DIR", "") or ARENA_HOME or BASE_DIR / "var").absolute()
DEBUG = env.bool("DEBUG", False)
SECRET_KEY = env.str("SECRET_KEY", "") or local_secret_key(VAR_DIR)
HOST = env.str("HOST", "") or "127.0.0.1"
PORT = env.int("PORT", 8000, validate=validate.Range(min=1, max=65535))
ALLOWED_HOSTS: list[str] = env.list("ALLOWED_HOSTS", []) or local_hosts(HOST)
CSRF_TRUSTED_ORIGINS: list[str] = env.list("CSRF_TRUSTED_ORIGINS", [])
# Where judges and commands reach the arena, themselves clients of its API.
ARENA_URL = (env.str("ARENA_URL", "") or local_url(HOST, PORT)).rstrip("/")
# Where people reach the arena: what the links in mails begin with, whatever host a request named.
PUBLIC_URL = (env.str("PUBLIC_URL", "") or (public_url(ALLOWED_HOSTS) if PRODUCTION else ARENA_URL)).rstrip(
    "/"
)
# How many proxies in front add the address they were called from to X-Forwarded-For.
TRUSTED_PROXIES = env.int("TRUSTED_PROXIES", 1 if PRODUCTION else 0, validate=validate.Range(min=0))
WEB_WORKERS = env.int("WEB_WORKERS", 1, validate=ONE_OR_MORE)
WEB_THREADS = env.int("WEB_THREADS", 8, validate=ONE_OR_MORE)

# --- Applications ------------------------------------------------------------------------------------------
INSTALLED_APPS = [
    "arena.audit.apps.RecordedAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.humanize",
    "django.forms",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "axes",
    "csp",
    "django_htmx",
    "ninja",
    "arena",
    "judging",
    "leaderboard",
]
MIDDLEWARE = [
    "arena.monitoring.requests.RequestMiddleware",
    "arena.process.no_body.NoBodyMiddleware",
    "arena.api.http.APIMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "arena.process.compressing.CompressingMiddleware",
    "leaderboard.pages.kept.KeptPagesMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "arena.people.second_factor.SecondFactorMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
    "arena.process.busy.BusyDatabaseMiddleware",
]
ROOT_URLCONF = "arena.urls"
WSGI_APPLICATION = "arena.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "arena" / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "builtins": [
                "django.contrib.humanize.templatetags.humanize",
                "django.templatetags.static",
                "arena.templatetags.site",
                "arena.templatetags.tables",
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

FORM_RENDERER = "arena.pages.forms.FormRenderer"

FORCE_SCRIPT_NAME = ""  # the arena is at the root of its host; otherwise a request could name another place

# --- Database ----------------------------------------------------------------------------------------------
DATABASE_URL = env.str("DATABASE_URL", "") or f"sqlite:///{VAR_DIR / 'arena.sqlite3'}"
WORKER_CONCURRENCY = env.int("WORKER_CONCURRENCY", 8, validate=ONE_OR_MORE)
DATABASES = {"default": parse_database_url(DATABASE_URL)}
DATABASES["default"]["OPTIONS"] = (
    # IMMEDIATE takes the write lock when a transaction starts: two writers wait instead of failing half-way.
    {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
    if DATABASES["default"]["ENGINE"].endswith("sqlite3")
    # One connection for every thread of the web, for the sweeper, for statistics and imports, and for
    # those of judging that write at the same moment: while they wait for a model they hold none.
    # While PostgreSQL is away a request waits 10 s, not the pool's usual 30. A lost connection is given up
    # after 5 s and made anew when somebody asks: by itself the pool would try ever more seldom. A machine
    # that went without a word is given up after 10 s (in ms), and not as late as the kernel does.
    else {
        "tcp_user_timeout": 10_000,
        **DATABASES["default"].get("OPTIONS", {}),
        "pool": {
            "min_size": 1,
            "max_size": WEB_THREADS + min(WORKER_CONCURRENCY, 16) + 8,
            "timeout": 10,
            "reconnect_timeout": 5,
        },
    }
)
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # A connection per thread, kept: opening one for every request and task costs more than their queries do.
    DATABASES["default"]["CONN_MAX_AGE"] = None
else:
    # A pooled connection is tried before it is used: those of before a restart of PostgreSQL are thrown away.
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Task queue --------------------------------------------------------------------------------------------
# The database is the queue of record: assignments carry state and lease, messages are nudges. So the default
# broker may live in the memory of the web process, with the worker as one of its threads.
CELERY_BROKER_URL = env.str("BROKER_URL", "") or "memory://"
EMBEDDED_WORKER = CELERY_BROKER_URL.startswith("memory://")
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
# The queue in memory is looked at ten times a second: threads must find their next task ready in between.
CELERY_WORKER_PREFETCH_MULTIPLIER = 8 if EMBEDDED_WORKER else 2
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a worker waits for its broker for as long as it takes
CELERY_WORKER_CONCURRENCY = WORKER_CONCURRENCY
CELERY_BROKER_TRANSPORT_OPTIONS = (
    {"polling_interval": 0.1}
    if EMBEDDED_WORKER
    else {
        "visibility_timeout": 900,
        "unacked_restore_throttle": 1,
        "unacked_restore_interval": 10,
        # All threads may end at once. A message that cannot be acknowledged stays among those that are
        # taken, and with too many of these a worker takes no more.
        "max_connections": CELERY_WORKER_CONCURRENCY + 8,
        "socket_timeout": BROKER_SECONDS,
        "socket_connect_timeout": BROKER_SECONDS,
    }
)
# Slots of a worker by queue: tasks of one never wait for those of another.
QUEUES = {
    "judging": WORKER_CONCURRENCY,
    "writing": WORKER_CONCURRENCY,
    "proposals": 2,
    "labels": 2,
    "battles": 128,  # streams, which take no time of the processor while they wait
    "statistics": 2,
    "imports": 2,
}
ASKER = "judging.worker.worker.Worker"
# Doors to the models' calls of these queues, which a worker takes from the database and not from the broker.
DOORS = {
    "judging": "judging.runs.door.door",
    "writing": "judging.writing.services.door",
    "proposals": "judging.proposing.services.door",
    "labels": "judging.battles.categories.door",
    "battles": "judging.battles.door.door",
}
CELERY_TASK_ROUTES = {
    "judging.*": {"queue": "judging"},
    "leaderboard.*": {"queue": "statistics"},
    "arena.*": {"queue": "imports"},
}
# How long a worker that is told to stop waits for calls in flight, which would be paid twice otherwise.
WORKER_STOP_SECONDS = env.float("WORKER_STOP_SECONDS", 150.0, validate=validate.Range(min=0))
CACHES = {
    # What security counts: wrong codes, and codes that were used. It works while Redis is away.
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "cache",
        "OPTIONS": {"MAX_ENTRIES": 20_000},  # beyond these a third is forgotten
    },
    # What may be forgotten, seen by web and worker alike: how far an import has come, that it is to stop.
    "progress": cache_for(CELERY_BROKER_URL),
    # Counts that may be seconds old, of each process for itself: pages of raters work while Redis is away.
    "counts": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "counts"},
}
SWEEP_SECONDS = env.float("SWEEP_SECONDS", 5.0 if EMBEDDED_WORKER else 30.0, validate=MORE_THAN_NONE)
# Functions called after the demo studies are loaded, by the apps above this one.
DEMO_ADDITIONS = ["judging.battles.demo.open_battles"]
# Functions called at every sweep, and once when the embedded worker starts. Named as strings: they live in
# the apps above this one.
SWEEPS = [
    "arena.rating.assignments.expire_lapsed",
    "arena.data.uploads.jobs.sweep",
    "arena.api.idempotency.sweep",
    "judging.runs.recovery.sweep",
    "judging.panels.services.sweep_panels",
    "judging.requests.services.sweep",
    "judging.submissions.services.mail_again",
    "judging.battles.starting.expire",
    "judging.battles.visitors.renew_salts",
    "leaderboard.refreshing.services.sweep",
    "leaderboard.snapshots.on_demand.sweep",
]
EMBEDDED_START: list[str] = [
    "judging.runs.recovery.abandon_orphans",
    "judging.requests.services.abandon_orphans",
    "leaderboard.refreshing.services.abandon_runs",
    "leaderboard.snapshots.on_demand.abandon_runs",
]

# Called when any other worker starts, of which there may be several.
WORKER_START: list[str] = ["judging.runs.heartbeat.start"]

# --- Judges ------------------------------------------------------------------------------------------------
JUDGE_MAX_ATTEMPTS = env.int("JUDGE_MAX_ATTEMPTS", 5, validate=ONE_OR_MORE)
# After so long without anything of its answer a model of a battle has failed.
BATTLE_HUNG_SECONDS = env.float("BATTLE_HUNG_SECONDS", 30.0, validate=MORE_THAN_NONE)
# Before the second attempt; doubled for each more.
JUDGE_RETRY_SECONDS = env.float("JUDGE_RETRY_SECONDS", 2.0)
JUDGE_RETRY_MAX_SECONDS = env.float("JUDGE_RETRY_MAX_SECONDS", 300.0)
# How long a judge on another machine keeps an assignment without renewing its lease.
JUDGE_LEASE_SECONDS = env.float("JUDGE_LEASE_SECONDS", 300.0, validate=MORE_THAN_NONE)
# A judge that leaves a greater share of its answers without a rating is flagged wherever one can choose it.
JUDGE_UNSCORED_SHARE = env.float("JUDGE_UNSCORED_SHARE", 0.05, validate=validate.Range(min=0, max=1))
# Variables with keys of judges, as names or patterns; their values are sent to endpoints.
JUDGE_KEYS = words(env.list("JUDGE_KEYS", [])) or ["*_API_KEY"]
# Hosts, or beginnings of addresses, that judges may ask; none: any, but in production only public ones.
JUDGE_ENDPOINTS = words(env.list("JUDGE_ENDPOINTS", []))
# Of a judge worker on another machine: the token of its judge, made by the arena.
ARENA_TOKEN = env.str("ARENA_TOKEN", "")

# --- People ------------------------------------------------------------------------------------------------
LEASE_MINUTES = env.float("LEASE_MINUTES", 30.0, validate=MORE_THAN_NONE)
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "home"
AXES_VERBOSE = False
AXES_LOCKOUT_TEMPLATE = "registration/locked_out.html"
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 0.25  # hours
AXES_HANDLER = "arena.people.locking_out.Handler"
AXES_USERNAME_CALLABLE = "arena.people.locking_out.counted_for"
AXES_LOCKOUT_PARAMETERS = "arena.people.locking_out.counted_by"
AXES_CLIENT_IP_CALLABLE = "arena.process.addresses.client_address"
AXES_ENABLE_ACCESS_FAILURE_LOG = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False

# --- Signing in --------------------------------------------------------------------------------------------
REQUIRE_SECOND_FACTOR = env.bool("REQUIRE_SECOND_FACTOR", False)
OIDC_PROVIDERS = openid_providers(lambda name: env.str(name, ""))
SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"OAUTH_PKCE_ENABLED": True, "APPS": OIDC_PROVIDERS}}
SOCIALACCOUNT_ADAPTER = "arena.people.openid.OpenIDAdapter"
ACCOUNT_ADAPTER = "arena.people.accounts.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"  # nobody needs an address; one that is entered is confirmed
ACCOUNT_CHANGE_EMAIL = True
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_FORMS = {
    "login": "arena.people.accounts.SignInForm",
    "change_password": "arena.people.accounts.ChangePasswordForm",
    "reset_password": "arena.people.accounts.ResetPasswordForm",
    "reset_password_from_key": "arena.people.accounts.ResetPasswordKeyForm",
    "add_email": "arena.people.accounts.AddEmailForm",
    "reauthenticate": "arena.people.accounts.ReauthenticateForm",
}
# Codes of the second factor. Passwords are limited by AXES_HANDLER, which knows browsers.
ACCOUNT_RATE_LIMITS = {"login": None, "login_failed": "5/5m/key"}
MFA_ADAPTER = "arena.people.second_factor.SecondFactorAdapter"
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_FORMS = {
    "authenticate": "arena.people.second_factor.AuthenticateForm",
    "reauthenticate": "arena.people.second_factor.ReauthenticateForm",
    "activate_totp": "arena.people.second_factor.ActivateForm",
}

# --- Mail --------------------------------------------------------------------------------------------------
EMAIL_URL = env.str("EMAIL_URL", "")
SENDS_MAIL = bool(EMAIL_URL)
EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
EMAIL_HOST, EMAIL_PORT, EMAIL_HOST_USER, EMAIL_HOST_PASSWORD, EMAIL_USE_TLS, EMAIL_USE_SSL = mail_server(
    EMAIL_URL
)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.str("EMAIL_FROM", "") or EMAIL_HOST_USER or "arena@localhost"

# --- Pages -------------------------------------------------------------------------------------------------
LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
# Where the footer leads besides methodology and API.
FOOTER_LINKS = {
    name: address
    for name, address in (
        ("Privacy", env.str("PRIVACY_URL", "")),
        ("Imprint", env.str("IMPRINT_URL", "")),
        ("Source", env.str("SOURCE_URL", "")),
    )
    if address
}
# Pages for everybody that each process keeps as they were sent.
PAGE_CACHE_MB = env.int("PAGE_CACHE_MB", 32, validate=validate.Range(min=0))
STATIC_URL = "static/"
STATIC_ROOT = VAR_DIR / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "arena.pages.scripts.ModuleStorage"},
}
WHITENOISE_SKIP_COMPRESS_EXTENSIONS = ("map", "png")  # which browsers do not ask for, or is compressed

# --- Imports -----------------------------------------------------------------------------------------------
IMPORT_MAX_MB = env.int("IMPORT_MAX_MB", 200, validate=ONE_OR_MORE)

# --- Safety ------------------------------------------------------------------------------------------------
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "script-src": ["'self'"],
        # Plotly creates one empty <style> element (the hash of nothing) and sets style attributes.
        "style-src": ["'self'", "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"],
        "style-src-attr": ["'unsafe-inline'"],
        "img-src": ["'self'", "data:", "blob:"],
        "object-src": ["'none'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
    }
}
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_HTTPONLY = True
if PRODUCTION:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = env.bool("SECURE_SSL_REDIRECT", True)
    SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)$"]  # asked from inside, without a proxy
    SECURE_HSTS_SECONDS = env.int("SECURE_HSTS_SECONDS", 3600)
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True

# --- Monitoring --------------------------------------------------------------------------------------------
# Who has this token may read /metrics; without one, only this machine.
METRICS_TOKEN = env.str("METRICS_TOKEN", "")
# Functions that read metrics from the database, named as strings like sweeps.
METRICS = [
    "arena.monitoring.recorded.metrics",
    "judging.runs.metrics.metrics",
    "leaderboard.refreshing.metrics.metrics",
]
# Where several web processes count together; prometheus_client reads the variable when it is imported.
METRICS_DIR = (
    os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", str(VAR_DIR / f"metrics-{PORT}"))
    if WEB_WORKERS > 1
    else ""
)
SENTRY_DSN = env.str("SENTRY_DSN", "")
LOG_LEVEL = env.str(
    "LOG_LEVEL", "INFO", validate=validate.OneOf(["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"])
)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"lines": {"()": "arena.monitoring.logs.formatter"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "lines"}},
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    # What goes right is not worth a line for every task; failures are logged as errors.
    "loggers": {
        "axes": {"level": "WARNING"},
        "celery.worker.strategy": {"level": "WARNING"},
        "celery.app.trace": {"level": "WARNING"},
        "celery.worker.consumer.connection": {"level": "WARNING" if EMBEDDED_WORKER else "INFO"},
        "kombu.connection": {"level": "ERROR"},
        "httpx2": {"level": "WARNING"},
        "waitress": {"level": "WARNING"},
        "waitress.queue": {"level": "ERROR"},
        "arena.monitoring.requests": {"level": "INFO" if PRODUCTION else "WARNING"},
    },
}

# Every variable that is a setting. None of them holds a key of a judge.
OWN_VARIABLES = frozenset(env.dump())
