"""Formats of credentials that name themselves by a prefix or a frame, beyond those of the library."""

import re

_B = r"(?<![\w-])"  # where a word may begin


def _one(name: str, pattern: str, flags: int = 0) -> tuple[str, re.Pattern[str]]:
    return name, re.compile(pattern, flags)


# The value is the group named v, else all of it.
FORMATS = [
    _one(
        "private key", r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]+-----|\Z)"
    ),
    _one("private key", r"PuTTY-User-Key-File-\d:[\s\S]{0,20000}?(?:Private-MAC: \w+|\Z)"),
    _one("age key", r"AGE-SECRET-KEY-1[0-9A-Z]{40,}"),
    _one("GitHub token", _B + r"github_pat_[A-Za-z0-9_]{30,}"),
    _one("Anthropic key", _B + r"sk-ant-[A-Za-z0-9_-]{20,}"),
    _one("API key", _B + r"sk-(?:proj|svcacct|admin|or-v1|lf)-[A-Za-z0-9_-]{20,}"),
    _one("API key", _B + r"sk-[A-Za-z0-9]{32,}"),
    _one("Hugging Face token", _B + r"(?:hf|api_org)_[A-Za-z]{30,}|" + _B + r"hf_[A-Za-z0-9]{30,}"),
    _one("npm token", _B + r"npm_[A-Za-z0-9]{30,}"),
    _one("npm token", r":_auth(?:Token)?=(?P<v>[A-Za-z0-9_\-+/=.]{16,})"),
    _one("Google key", _B + r"AIza[0-9A-Za-z_-]{30,40}"),
    _one("Google token", _B + r"(?:GOCSPX-[\w-]{20,}|ya29\.[\w-]{20,}|1//0[\w-]{30,})"),
    _one("Slack token", _B + r"(?:xox[a-z](?:-[\dA-Za-z]+){2,}|xapp-\d-[A-Z0-9]+-\d+-[a-f0-9]{20,})"),
    _one("Stripe key", _B + r"(?:sk|rk)_(?:live|test)_[0-9A-Za-z]{16,}"),
    _one("webhook secret", _B + r"whsec_[A-Za-z0-9+/=_-]{20,}"),
    _one("Shopify token", _B + r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    _one("Grafana token", _B + r"(?:glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}|glc_[A-Za-z0-9+/=]{30,})"),
    _one("Linear key", _B + r"lin_(?:api|oauth|wh)_[A-Za-z0-9]{30,}"),
    _one("Notion token", _B + r"(?:ntn|secret)_[A-Za-z0-9]{40,}"),
    _one("Figma token", _B + r"fig[dou]_[\w-]{30,}"),
    _one("Airtable token", _B + r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    _one("Postman key", _B + r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    _one("Doppler token", _B + r"dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.]{30,}"),
    _one("DigitalOcean token", _B + r"do[oprt]_v1_[0-9a-f]{64}"),
    _one("Docker token", _B + r"dckr_(?:pat|oat)_[\w-]{20,}"),
    _one("Databricks token", _B + r"dapi[0-9a-f]{32}"),
    _one("Vault token", _B + r"hv[sbr]\.[\w-]{20,}"),
    _one("Terraform token", r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}"),
    _one("RubyGems key", _B + r"rubygems_[0-9a-f]{48}"),
    _one("crates.io token", _B + r"cio[A-Za-z0-9]{32}(?!\w)"),
    _one("Sentry token", _B + r"sntry[su]_[\w+/=-]{30,}"),
    _one("New Relic key", _B + r"NR(?:AK|II|RA|BR)-[A-Z0-9a-z]{20,}"),
    _one("Supabase key", _B + r"sb(?:_secret_[\w-]{20,}|p_[0-9a-f]{40})"),
    _one("Atlassian token", _B + r"AT[AC]TT3[\w=-]{50,}"),
    _one("Replicate token", _B + r"r8_[A-Za-z0-9]{37}"),
    _one("Groq key", _B + r"gsk_[A-Za-z0-9]{40,}"),
    _one("xAI key", _B + r"xai-[A-Za-z0-9]{40,}"),
    _one("Perplexity key", _B + r"pplx-[A-Za-z0-9]{40,}"),
    _one("Tailscale key", _B + r"tskey-[a-z]+-[\w-]{20,}"),
    _one("PlanetScale key", _B + r"pscale_(?:tkn|pw|oauth)_[\w.-]{30,}"),
    _one("Mailgun key", _B + r"key-[0-9a-f]{32}(?!\w)"),
    _one("Alibaba key", _B + r"LTAI[A-Za-z0-9]{12,24}(?!\w)"),
    _one("Yandex key", _B + r"(?:AQVN[\w-]{35,}|y[0-3]_[\w-]{50,}|t1\.[\w-]{50,}={0,2}\.[\w-]{50,})"),
    _one("Mapbox token", _B + r"sk\.eyJ[\w-]{20,}\.[\w-]{10,}"),
    # Vendors that nobody has a rule for call their keys like the rest does.
    _one("API key", _B + r"[a-z]{2,10}[_-](?:live|prod|secret|sk|pat|token|api_key)[_-][A-Za-z0-9]{20,}(?!\w)"),
    _one("token", _B + r"eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    _one("webhook address", r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<v>[\w/-]{20,})"),
    _one("webhook address", r"discord(?:app)?\.com/api/webhooks/\d+/(?P<v>[\w-]{20,})"),
    _one("webhook address", r"webhook\.office\.com/(?P<v>[\w@/.-]{30,})"),
    _one(
        "webhook address",
        r"https?://[^\s/]{1,100}/(?:[^\s?#/]{1,60}/){0,6}web-?hooks?/(?:[^\s?#/]{1,60}/){0,6}(?P<v>(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{24,})",
    ),
    _one("one-time password seed", r"otpauth://[^\s\"'<>]*?[?&]secret=(?P<v>[A-Za-z2-7]{16,}=*)"),
    _one("connection key", r"(?:AccountKey|SharedAccessKey|SharedAccessSignature)=(?P<v>[A-Za-z0-9+/%=&_-]{20,})"),
    _one(
        "key in an address",
        r"[?&](?:sig|signature|x-amz-signature|x-goog-signature|token|access_token|auth|auth_token|api_?key|apikey|key"
        r"|secret|client_secret|password|passwd|pwd)=(?P<v>(?=[^\s&#\"'`<>]*\d)[A-Za-z0-9%+/=_.~-]{16,})",
        re.IGNORECASE,
    ),
    _one(
        "password in an address",
        r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,20}://[^\s:/?#@\"'`<>]{0,100}:(?P<v>[^\s/@\"'`<>]{3,200})@[\w.\[-]",
        re.I,
    ),
    _one("bearer token", r"\b[Bb]earer\s+(?P<v>(?=[\w.+/=~-]*\d)[\w.+/=~-]{16,})"),
]
