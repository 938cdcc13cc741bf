"""Values that are secret because of the word before them: "the password is …", `API_KEY=…`, `curl -u name:…`."""

import base64
import binascii
import re
from collections.abc import Iterator

from banks.secrets.plausible import is_placeholder, looks_secret, may_be_secret

# Words that stand for a credential, in the languages that agents write most.
_WORDS = r"""
pass(?:word|wd|phrase|code)s? pwd psw credentials? secrets?(?:[\s_-]?keys?)? tokens?
(?:api|access|private|signing|encryption|auth|master|session|service|account|licen[cs]e|client|shared|root|deploy|storage)[\s_-]?(?:keys?|secrets?|tokens?)
pin[\s-]?code totp(?:[\s_-](?:seed|secret))? otp[\s_-](?:seed|secret) seed[\s_-]phrase
passw[oö]rt kennwort zugangscode zugangsschlüssel geheimnis schlüssel
mot\sde\spasse mdp clés?(?:\sd'api|\ssecrète)? jeton
contraseña clave(?:\ssecreta|\sde\s(?:api|acceso))? senha chave(?:\s(?:secreta|de\s(?:api|acesso)))? palavra-passe
parola\sd'ordine chiave(?:\s(?:segreta|api))? wachtwoord sleutel hasł[oa] klucz heslo jelszó parol[ăa] şifre(?:si)?
lösenord(?:et)? passord(?:et)? adgangskode(?:n)? salasana κωδικός κλειδί συνθηματικό
парол[ьяеюи] токен(?:а|ом)? ключ(?:а|ом)? секрет(?:а|ный\sключ)? кодов(?:ое|ая)\s(?:слово|фраза)
密码 口令 密钥 令牌 密碼 秘钥 パスワード 暗証番号 秘密鍵 トークン 비밀번호 암호 토큰 كلمة\s(?:المرور|السر) رمز\sعبور
סיסמה סיסמת पासवर्ड mật\skhẩu kata\ssandi รหัสผ่าน
"""
_WORD = "|".join(word for word in _WORDS.split())
_IS = (
    r"(?:\s*(?::=|=>|->|→|[=:：＝])\s*|\s+(?:is|was|are|be|to|ist|lautet|war|sei|est|es|era|é|è|jest|to|heter|är|er|on|je|este|"
    r"değeri|είναι|это|теперь|была?|is still|is now|remains|stays|set to|changed to|bleibt|now)\s*:?\s+|\s*(?:是|为|為|は|が|은|는|هي|הוא|היא|है)\s*[:：]?\s*|\s+[—–-]\s+)"
)
_VALUE = r"(?P<q>[\"'`«“„「]?)(?P<v>[^\s\"'`«»“”„「」，。；、,;<>()\[\]{}]{4,300})"
# "the password of the staging database is X": the sentence goes on between the word and the value.
PROSE = re.compile(rf"(?<![\w-])(?:{_WORD})(?![\w-])(?P<gap>[^.\n;:=：。]{{0,70}}?){_IS}{_VALUE}", re.IGNORECASE)
NEXT = re.compile(rf"(?<![\w-])(?:{_WORD})(?![\w-])(?P<gap>)[ \t]+{_VALUE}", re.IGNORECASE)
CJK = re.compile(
    rf"(?:密码|口令|密钥|令牌|密碼|パスワード|暗証番号|トークン|비밀번호|암호)(?P<gap>[^。\n]{{0,12}}?){_IS}{_VALUE}"
)
# NAME=value, name: value, "name": "value" in settings, code and data.
_NAME = r"(?:pass(?:word|wd|phrase)?|pwd|secret|token|credentials?|api_?key|access_?key|private_?key|signing_?key|encryption_?key|auth_?key|secret_?key|master_?key|_key|(?<=[a-z])Key|dsn)"
ASSIGNED = re.compile(
    rf"(?P<name>(?<![\w$.-])[\"'`]?[A-Za-z0-9_.-]{{0,60}}{_NAME}(?:_?\d+)?)[\"'`\])]*[ \t]*(?::=|=>|==?|:)[ \t]*"
    r"(?P<q>[\"'`]?)(?P<v>[^\s\"'`,;<>(){}]{4,300})",
    re.IGNORECASE,
)
_PUBLIC = re.compile(
    r"public|publish|prefix|suffix|pattern|format|_header|_field|_column|_id\b|_url|_file|_path|_name\b|_ttl|_type|key_?id"
    r"|hash|digest|fingerprint|checksum|etag|sha\d|md5|primary|foreign|partition|cache|sort|idempot|translation",
    re.IGNORECASE,
)
_PASSWORD = re.compile(r"pass|pwd", re.IGNORECASE)  # nothing but a value follows
COMMANDS = [
    re.compile(r"\bcurl\b[^\n|;]{0,300}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"'`]+:(?P<v>[^\s\"'`]{3,})"),
    re.compile(r"\b(?:mysql|mysqldump|mariadb)\b[^\n|;]{0,200}?\s-p(?P<v>[^\s\"'`-][^\s\"'`]{3,})"),
    re.compile(
        r"\b(?:sshpass|redis-cli|ldapsearch|docker login|mosquitto_\w+)\b[^\n|;]{0,200}?\s(?:-p|-a|-w|-P)[ =]?[\"']?(?P<v>[^\s\"'`]{4,})"
    ),
    re.compile(
        r"\s--(?:password|passwd|pass|token|secret|api-key|auth-token|access-key|secret-key)[ =][\"']?(?P<v>[^\s\"'`<>]{4,})"
    ),
    re.compile(r"(?:;|\b)(?:Password|Pwd)=(?P<v>[^;\s\"'`]{4,})", re.IGNORECASE),
    re.compile(r"\blogin\s+\S+\s+password\s+(?P<v>\S{4,})"),
    re.compile(r"\bauth\s*=\s*\(\s*[\"'][^\"'\n]{1,60}[\"']\s*,\s*[\"'](?P<v>[^\"'\n]{4,})[\"']"),
    re.compile(
        r"\.(?:password|login|authenticate|auth)\(\s*(?:[\"'][^\"'\n]{1,60}[\"']\s*,\s*)?[\"'](?P<v>[^\"'\n]{4,})[\"']"
    ),
    re.compile(r"\b(?:identified by|with password|encrypted password)\s+'(?P<v>[^'\n]{4,})'", re.IGNORECASE),
]
BASIC = re.compile(r"\bBasic\s+(?P<v>[A-Za-z0-9+/]{8,}={0,2})")
_ENDS = ".,;:!?。，；、)]}"


# One of these is in every text that has a word of those above.
_STEMS = re.compile(
    r"pass|pwd|psw|mdp|secret|token|key|credential|pin|totp|otp|seed|kennw|zugang|geheim|schl|mot|cl[eé]|jeton|clave|contras|senha|"
    r"chave|palavra|parol|chiave|wacht|sleutel|has[lł]|klucz|heslo|jelsz|şifre|lösen|adgang|sala|dsn|auth|[^\x00-\x7f]",
    re.IGNORECASE,
)
_COMMANDED = re.compile(
    r"curl|mysql|mariadb|sshpass|redis-cli|ldapsearch|docker|mosquitto|--|pwd|password|login|auth|identified", re.I
)


def find(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, name) of each value, in no order; they may overlap."""
    yield from _named(text) if _STEMS.search(text) else ()
    if _COMMANDED.search(text):
        for pattern in COMMANDS:
            for match in pattern.finditer(text):
                if not is_placeholder(match["v"]):
                    yield match.start("v"), match.end("v"), "password in a command"
    for match in BASIC.finditer(text) if "Basic" in text else ():
        if _is_a_login(match["v"]):
            yield match.start("v"), match.end("v"), "basic authentication"


def _named(text: str) -> Iterator[tuple[int, int, str]]:
    for pattern in (PROSE, CJK, NEXT):
        for match in pattern.finditer(text):
            start, end = _inside(match)
            value = text[start:end]
            if looks_secret(value) and not _PUBLIC.search(match["gap"] + _before(text, match.start())):
                yield start, end, "password or key"
    for match in ASSIGNED.finditer(text):
        start, end = _inside(match)
        if not _PUBLIC.search(match["name"]) and may_be_secret(
            text[start:end], quoted=bool(match["q"] or _PASSWORD.search(match["name"]))
        ):
            yield start, end, "password or key"


def _before(text: str, at: int) -> str:
    """The word before: "public key", "hash of the password"."""
    return " ".join(text[max(at - 24, 0) : at].split()[-2:])


def _inside(match: re.Match[str]) -> tuple[int, int]:
    start, end = match.span("v")
    if match["q"]:
        return start, end
    while end > start and match.string[end - 1] in _ENDS:
        end -= 1
    return start, end


def _is_a_login(value: str) -> bool:
    try:
        name, colon, password = base64.b64decode(value, validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        return False
    return bool(name and colon and password) and (name + password).isprintable()
