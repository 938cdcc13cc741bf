"""One settings module for both profiles; everything that differs comes from the environment (docs/operations.md)."""

from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

import environ
from csp.constants import NONE, SELF

from memadmin import env, runtime

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(env.text("MEMADMIN_DATA_DIR", "var")).expanduser().absolute()

DEMO = env.flag("MEMADMIN_DEMO", default=False)  # set by `memadmin up` when it starts the demo server

# ── who we are on the network ──────────────────────────────────────────────────────────────────────────────
DEBUG = False
# "yes" where the product listens beyond loopback: behind a proxy, over https, with its own host names.
PRODUCTION = env.flag("MEMADMIN_PRODUCTION", default=False)
SECRET_KEY = env.kept_secret("MEMADMIN_SECRET_KEY", DATA_DIR / "secret_key")
# The first key encrypts, all of them decrypt. Kept outside of backups.
ENCRYPTION_KEYS = env.kept_keys("MEMADMIN_ENCRYPTION_KEYS", DATA_DIR / "encryption_keys")
ALLOWED_HOSTS = env.words("MEMADMIN_ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
PUBLIC_URL = env.text("MEMADMIN_PUBLIC_URL").rstrip("/")
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL] if PUBLIC_URL else []
PORT = int(env.number("PORT", 8700))
METRICS_TOKEN = env.text("MEMADMIN_METRICS_TOKEN")  # who has it may read /metrics; without one there is no such page

INSTALLED_APPS = [
    "memadmin.accounts",
    "memadmin",
    "banks",
    "reviews",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.humanize",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django_htmx",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "csp",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "memadmin.middleware.RequestIdMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "memadmin.middleware.PresenceMiddleware",
    "memadmin.middleware.SignInMiddleware",
    "memadmin.middleware.SecondFactorMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "memadmin.middleware.FragmentMiddleware",
]

ROOT_URLCONF = "memadmin.urls"
WSGI_APPLICATION = "memadmin.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "memadmin.context.shell",
            ],
        },
    },
]

# ── data ───────────────────────────────────────────────────────────────────────────────────────────────────
DATABASE_URL = env.text("DATABASE_URL") or f"sqlite:///{quote(str(DATA_DIR / 'memadmin.sqlite3'))}"
DATABASES: dict[str, dict[str, Any]] = {"default": environ.Env.db_url_config(DATABASE_URL)}  # type: ignore[no-untyped-call]
# Each request in one transaction would take SQLite's write lock for every page.
DATABASES["default"]["ATOMIC_REQUESTS"] = False
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # Kept by each thread: opening the file anew takes as long as a short request, and forgets the pages it has read.
    DATABASES["default"]["CONN_MAX_AGE"] = None
    DATABASES["default"]["OPTIONS"] = {
        # A transaction that reads and then writes takes the write lock at once: no "database is locked".
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": (
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA busy_timeout=20000; PRAGMA cache_size=-20000;"
            "PRAGMA mmap_size=134217728; PRAGMA journal_size_limit=27103364; PRAGMA temp_store=MEMORY;"
        ),
    }
else:
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
    # What the URL says (sslmode, …) goes to PostgreSQL's own library.
    DATABASES["default"].setdefault("OPTIONS", {}).setdefault("pool", {"min_size": 1, "max_size": 8, "timeout": 10})
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# ── broker, cache, locks: one Redis or Valkey; the embedded one listens on a unix socket ─────────────────────
REDIS_URL = env.text("REDIS_URL") or runtime.socket_url(DATA_DIR)
# A demo that shares a Redis with the real product must never hand it its tasks.
KEY_PREFIX = "memadmin-demo" if DEMO else "memadmin"
CELERY_BROKER_URL = runtime.broker_url(REDIS_URL)
CACHES = {"default": {"BACKEND": "memadmin.cache.ForgivingRedisCache", "LOCATION": REDIS_URL, "KEY_PREFIX": KEY_PREFIX}}

CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_TIME_LIMIT = 600
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "global_keyprefix": f"{KEY_PREFIX}:",
    # Nothing we queue runs, waits or is retried for longer than this; longer waits are `not_before` on a row.
    "visibility_timeout": 900,
    "unacked_restore_interval": 10,
    "unacked_restore_throttle": 1,
    # A web request must not hang on a dead broker: the row is stored, the sweep will send it.
    "socket_timeout": 5,
    "socket_connect_timeout": 2,
    # One more try at once, for a connection that went stale; the default goes on for six seconds.
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0,
}
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_DEFAULT_QUEUE = "load"
CELERY_TASK_ROUTES = {
    "banks.tasks.run_job": {"queue": "load"},
    "banks.tasks.sweep_jobs": {"queue": "load"},
    "banks.tasks.index_log": {"queue": "load"},
    "banks.tasks.look_at_operations": {"queue": "load"},
    "banks.tasks.read_numbers": {"queue": "load"},
    "banks.tasks.run_recall_check": {"queue": "load"},
    "banks.tasks.sweep_numbers": {"queue": "load"},
    "banks.tasks.sweep_operations": {"queue": "load"},
    "banks.tasks.sweep_recall_checks": {"queue": "load"},
    "banks.tasks.forget_deliveries": {"queue": "load"},
    "banks.tasks.*": {"queue": "door"},
    "reviews.tasks.*": {"queue": "load"},
}
CELERY_TIMEZONE = "UTC"
# A sign of life that is not worked on before the next one is due is of no use.
_SIGN = {"task": "memadmin.tasks.sign_of_life", "schedule": 5.0}
CELERY_BEAT_SCHEDULE = {
    "sweep-writes": {"task": "banks.tasks.sweep_writes", "schedule": 2.0},
    # The safety net: usually a message comes when there are enough, or when the first has waited long enough.
    "sweep-retains": {"task": "banks.tasks.sweep_retains", "schedule": 2.0, "options": {"expires": 10}},
    "probe-servers": {"task": "banks.tasks.probe_servers", "schedule": 60.0},
    # What was not begun before the next ones are due is of no use.
    "sweep-loads": {"task": "reviews.tasks.sweep_loads", "schedule": 5.0, "options": {"expires": 10}},
    "sweep-screening": {"task": "reviews.tasks.sweep_screening", "schedule": 20.0, "options": {"expires": 40}},
    "sweep-polls": {"task": "reviews.tasks.sweep_polls", "schedule": 10.0},
    "sweep-webhooks": {"task": "reviews.tasks.sweep_webhooks", "schedule": 5.0, "options": {"expires": 10}},
    "forget-deliveries": {"task": "banks.tasks.forget_deliveries", "schedule": 3600.0},
    "forget-exports": {"task": "banks.tasks.forget_exports", "schedule": 3600.0},
    "sweep-operations": {"task": "banks.tasks.sweep_operations", "schedule": 3.0, "options": {"expires": 10}},
    "sweep-numbers": {"task": "banks.tasks.sweep_numbers", "schedule": 5.0, "options": {"expires": 10}},
    "sweep-recall-checks": {
        "task": "banks.tasks.sweep_recall_checks",
        "schedule": 60.0,
        "options": {"expires": 60},
    },
    "sweep-jobs": {"task": "banks.tasks.sweep_jobs", "schedule": 15.0},
    "expire": {"task": "reviews.tasks.expire", "schedule": 60.0},
    "sweep-notices": {"task": "reviews.tasks.sweep_notices", "schedule": 60.0, "options": {"expires": 60}},
    "number-decisions": {"task": "reviews.tasks.number_decisions", "schedule": 3.0, "options": {"expires": 10}},
    "index-log": {"task": "banks.tasks.index_log", "schedule": 3.0, "options": {"expires": 10}},
    # A look that comes late finds what the next one finds.
    "watch-queue-file": {"task": "reviews.tasks.watch_queue_file", "schedule": 3.0, "options": {"expires": 10}},
    "door-lives": {**_SIGN, "args": ["door"], "options": {"queue": "door", "expires": 30}},
    "load-lives": {**_SIGN, "args": ["load"], "options": {"queue": "load", "expires": 30}},
}
CELERY_BEAT_SCHEDULER = "memadmin.beat:GuardedScheduler"

# ── people ─────────────────────────────────────────────────────────────────────────────────────────────────
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_LOGOUT_REDIRECT_URL = "/accounts/login/"
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_ADAPTER = "memadmin.accounts.adapter.ClosedSignupAdapter"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "memadmin.errors.csrf_failure"
# Wrong passwords and codes are counted in the database (memadmin.accounts.limits): allauth's own count is in the cache.
ACCOUNT_RATE_LIMITS = {"login_failed": None}
SIGNIN_TRIES = max(int(env.number("MEMADMIN_SIGNIN_TRIES", 5)), 1)  # by name, until it is locked
SIGNIN_ADDRESS_TRIES = max(int(env.number("MEMADMIN_SIGNIN_ADDRESS_TRIES", 50)), 1)
SIGNIN_LOCK_MINUTES = max(env.number("MEMADMIN_SIGNIN_LOCK_MINUTES", 15), 1.0)
# Who must have a second factor: "optional" (nobody), "admins" of anything and operators, or "all".
SECOND_FACTOR = env.choice("MEMADMIN_SECOND_FACTOR", ("optional", "admins", "all"))
MFA_ADAPTER = "memadmin.accounts.mfa.EncryptedFactorAdapter"
MFA_TOTP_ISSUER = "memadmin"
MFA_TOTP_TOLERANCE = 1  # half a minute, for clocks that are a little off
# No address is a person's own claim: operators and admins type them.
MFA_ALLOW_UNVERIFIED_EMAIL = True
# Sign-in by an OpenID Connect issuer; what it needs is only loaded where there is one.
OIDC_ISSUER = env.issuer("MEMADMIN_OIDC_ISSUER")
if OIDC_ISSUER:
    OIDC_NAME = env.text("MEMADMIN_OIDC_NAME") or "your company"
    # An account is joined to (issuer, subject): another issuer's subjects are other people.
    OIDC_ID = f"oidc-{sha256(OIDC_ISSUER.encode()).hexdigest()[:12]}"
    OIDC_DOMAINS = [domain.lower() for domain in env.words("MEMADMIN_OIDC_DOMAINS")]
    OIDC_SIGN_UP = env.flag(
        "MEMADMIN_OIDC_SIGN_UP", default=False
    )  # who was not invited gets an account, without a role
    INSTALLED_APPS += ["allauth.socialaccount", "allauth.socialaccount.providers.openid_connect"]
    SOCIALACCOUNT_ADAPTER = "memadmin.accounts.company.CompanyAdapter"
    SOCIALACCOUNT_REQUESTS_TIMEOUT = 5
    SOCIALACCOUNT_PROVIDERS = {
        "openid_connect": {
            "OAUTH_PKCE_ENABLED": True,
            "APPS": [
                {
                    "provider_id": OIDC_ID,
                    "name": OIDC_NAME,
                    "client_id": env.needed("MEMADMIN_OIDC_CLIENT_ID", "MEMADMIN_OIDC_ISSUER"),
                    "secret": env.text("MEMADMIN_OIDC_CLIENT_SECRET"),
                    "settings": {"server_url": OIDC_ISSUER},
                }
            ],
        }
    }
# The first operator; without a password a one-time link signs in.
ADMIN_USERNAME = env.text("MEMADMIN_ADMIN_USERNAME", "admin") or "admin"
ADMIN_PASSWORD = env.text("MEMADMIN_ADMIN_PASSWORD")
# How many proxies of ours stand in front: sign-in limits count per client address.
ALLAUTH_TRUSTED_PROXY_COUNT = int(env.number("MEMADMIN_PROXIES", 1 if PRODUCTION else 0))
SESSION_COOKIE_AGE = 14 * 24 * 3600

# ── mail: nothing is sent unless a server for it is named, as in smtp+tls://name:password@mail.example.org:587 ──
EMAIL_URL = env.text("MEMADMIN_EMAIL_URL")
if EMAIL_URL:
    globals().update(environ.Env.email_url_config(EMAIL_URL))  # type: ignore[no-untyped-call]
MAIL_ON = bool(EMAIL_URL)
EMAIL_TIMEOUT = 20
# Hosts that notifications may be posted to although they are on this machine or in a private network.
OUTGOING_HOSTS = env.words("MEMADMIN_OUTGOING_HOSTS")
DEFAULT_FROM_EMAIL = env.text("MEMADMIN_MAIL_FROM", "memadmin@localhost")

# ── what a browser may do with our pages ───────────────────────────────────────────────────────────────────
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
if PRODUCTION:
    SECURE_SSL_REDIRECT = env.flag("MEMADMIN_SSL_REDIRECT", default=True)
    SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_HSTS_SECONDS = int(env.number("MEMADMIN_HSTS_SECONDS", 31536000))
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True

# Uploads are bounded by our own limits with readable messages (reviews.forms); Django's is the last wall.
MAX_TEXT_BYTES = 8 * 1024 * 1024
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * MAX_TEXT_BYTES  # a form-encoded text can be three times its size
DATA_UPLOAD_MAX_NUMBER_FIELDS = 500
API_MAX_BYTES = MAX_TEXT_BYTES
API_PER_MINUTE = int(env.number("MEMADMIN_API_PER_MINUTE", 1200))  # of one token; 0 = no limit
FILE_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
# A queue file may be bigger than anything else a person sends; what is above it is never written to the disk.
IMPORT_MAX_BYTES = int(env.number("MEMADMIN_IMPORT_MB", 128) * 1024 * 1024)
# What is taken out of one bank; the file waits in the data folder for a day.
EXPORT_MAX_BYTES = int(env.number("MEMADMIN_EXPORT_MB", 2048) * 1024 * 1024)
# A session of an agent is read as a whole; most of it are results of tools, which are not kept.
TRANSCRIPT_MAX_BYTES = int(env.number("MEMADMIN_TRANSCRIPT_MB", 64) * 1024 * 1024)
# Files that a server turns into text: all of one request. Servers take 100 MB at most.
FILES_MAX_BYTES = int(min(env.number("MEMADMIN_FILES_MB", 100), 100) * 1024 * 1024)
FILE_UPLOAD_HANDLERS = [
    "memadmin.uploads.BoundedUploadHandler",
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]

# ── files, language, time ──────────────────────────────────────────────────────────────────────────────────
STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
# Beside the packages in the repository; installed, they are inside of ours (pyproject.toml), as templates are.
STATICFILES_DIRS = [folder for folder in [BASE_DIR / "static"] if folder.is_dir()]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "memadmin.joined.JoinedStorage"},
}
MEDIA_ROOT = DATA_DIR / "uploads"
LANGUAGE_CODE = "en"
TIME_ZONE = env.text("TZ", "UTC") or "UTC"
USE_I18N = False
USE_TZ = True

# ── the product ────────────────────────────────────────────────────────────────────────────────────────────
HINDSIGHT_BASE_URL = env.text("HINDSIGHT_BASE_URL")
HINDSIGHT_NAMESPACE = env.text("HINDSIGHT_NAMESPACE", "default")
HINDSIGHT_API_KEY = env.text("HINDSIGHT_API_KEY")
# The queue file of this machine that is watched (reviews.watching); "off" watches none.
QUEUE_FILE = env.text("MEMADMIN_QUEUE_FILE")
TOOLS_QUEUE_FILE = env.text("HINDSIGHT_REVIEW_QUEUE")  # where the tool itself was told to write
# Projects of this machine whose `.pi/hindsight.json`, and the person's own, an operator may see and save here.
AGENT_FOLDERS = env.words("MEMADMIN_AGENT_FOLDERS")
AUTO_APPROVE_DAYS = env.number("HINDSIGHT_REVIEW_AUTO_APPROVE_DAYS", 7)
UNDO_SECONDS = env.number("MEMADMIN_UNDO_SECONDS", 10)
# So long a whole bank can be kept after all before its delete is sent.
BANK_DELETE_MINUTES = max(env.number("MEMADMIN_BANK_DELETE_MINUTES", 60), 1.0)
# Nothing that was imported expires sooner than this, however old the file is.
IMPORT_GRACE_HOURS = 24
LEASE_MINUTES = 5
# A document opens for review once it was quiet for so long; a bank may say otherwise.
SETTLE_MINUTES = env.number("MEMADMIN_SETTLE_MINUTES", 30)
# How often each bank's documents are looked at.
POLL_SECONDS = env.number("MEMADMIN_POLL_SECONDS", 60)
# How far the clock of a server that calls our webhook may be from ours.
WEBHOOK_WINDOW_SECONDS = max(env.number("MEMADMIN_WEBHOOK_WINDOW_SECONDS", 300), 10.0)
# How often the operations of a bank are read while some have not ended; five times as long where nothing happens.
OPERATIONS_SECONDS = max(env.number("MEMADMIN_OPERATIONS_SECONDS", 60), 10.0)
# How often what a server counts in a bank is read; less often where that fails.
NUMBERS_SECONDS = max(env.number("MEMADMIN_NUMBERS_SECONDS", 300), 30.0)
# At this hour of the night, in the time zone of the installation, saved queries are asked.
RECALL_CHECK_HOUR = int(min(max(env.number("MEMADMIN_RECALL_CHECK_HOUR", 3), 0), 23))
# What has not ended, and to which nothing has happened for so long, is called stuck.
STUCK_MINUTES = max(env.number("MEMADMIN_STUCK_MINUTES", 30), 1.0)
# A worker renews its hold on what it works on; what a killed one held is taken up again after so long.
CLAIM_SECONDS = max(env.number("MEMADMIN_CLAIM_SECONDS", 15), 3.0)  # a beat each second is enough
# Memories that come through us wait so long for others, and go out together. A single one may be so large.
RETAIN_WAIT_SECONDS = env.number("MEMADMIN_RETAIN_WAIT_SECONDS", 5)
RETAIN_ITEM_BYTES = int(env.number("MEMADMIN_RETAIN_ITEM_KB", 1024) * 1024)
CURATION_CALLS_PER_SERVER = int(env.number("MEMADMIN_CALLS_PER_SERVER", 2))

# "json": one object a line, and a line for each request and task; for people only what is out of the ordinary.
LOG_FORMAT = env.choice("MEMADMIN_LOG_FORMAT", ("line", "json"))
_EACH = "INFO" if LOG_FORMAT == "json" else "WARNING"
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"ours": {"()": "memadmin.log.formatter", "kind": LOG_FORMAT}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "ours"}},
    "root": {"handlers": ["console"], "level": env.text("MEMADMIN_LOG_LEVEL", "INFO")},
    # httpx logs full URLs at INFO; they hold ids of other people's documents.
    "loggers": {
        "httpx": {"level": "WARNING"},
        "httpcore": {"level": "WARNING"},
        # A stranger's Host header is refused, and is no error of ours.
        "django.security.DisallowedHost": {"level": "CRITICAL"},
        # Said by its name: Celery's own --loglevel is about the root.
        "memadmin.beat": {"level": "INFO"},
        "memadmin.requests": {"level": _EACH},
        "memadmin.tasks": {"level": _EACH},
        # Two lines for each sweep, every two seconds.
        "celery": {"level": "WARNING"},
    },
}
