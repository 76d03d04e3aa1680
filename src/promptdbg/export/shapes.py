"""How secrets and personal data look. Vendor keys come from detect-secrets; the rest are rules of
ours for what people paste into prompts. Every pattern is linear: none repeats over a repetition.
"""

from __future__ import annotations

import ipaddress
import re
from functools import cache
from importlib import import_module

from promptdbg.export.secrets import Shape

# detect-secrets' detectors that are specific enough for prose and code, with the literals that every
# match of theirs holds. Left out: entropy and keyword detectors (prose and code are full of both),
# Artifactory's (takes ordinary words), npm's (quadratic on a long line; npm tokens are below).
_DETECTORS: dict[str, tuple[str, ...]] = {
    "aws.AWSKeyDetector": ("akia", "asia", "abia", "a3t", "aws"),
    "azure_storage_key.AzureStorageKeyDetector": ("accountkey=",),
    "github_token.GitHubTokenDetector": ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    "gitlab_token.GitLabTokenDetector": (
        "glpat",
        "gldt",
        "glft",
        "glsoat",
        "glrt",
        "gr1348941",
        "glcbt",
        "glimt",
        "glptt",
        "glagent",
        "gloas",
    ),
    "jwt.JwtTokenDetector": ("eyj",),
    "mailchimp.MailchimpDetector": ("-us",),
    "openai.OpenAIDetector": ("t3blbkfj",),
    "pypi_token.PypiTokenDetector": ("pypi-ag",),
    "sendgrid.SendGridDetector": ("sg.",),
    "slack.SlackDetector": ("xox", "hooks.slack.com"),
    "square_oauth.SquareOAuthDetector": ("sq0csp",),
    "stripe.StripeDetector": ("k_live_",),
    "telegram_token.TelegramBotTokenDetector": (":aa",),
    "twilio.TwilioKeyDetector": ("ac", "sk"),
}

# Keys of other vendors; all open with a fixed prefix.
_VENDOR_KEYS = r"""(?<![A-Za-z0-9_])(?:
    sk-ant-[A-Za-z0-9_-]{20,200}
  | sk-(?:proj|svcacct|admin|or|lf)-[A-Za-z0-9_-]{20,200} | sk-[A-Za-z0-9]{32,200}
  | AIza[A-Za-z0-9_-]{35} | ya29\.[A-Za-z0-9_-]{20,500}
  | github_pat_[A-Za-z0-9_]{22,200} | hf_[A-Za-z0-9]{30,100} | npm_[A-Za-z0-9]{36} | gsk_[A-Za-z0-9]{32,100}
  | xai-[A-Za-z0-9]{32,200} | pplx-[A-Za-z0-9]{32,100} | r8_[A-Za-z0-9]{32,100} | nvapi-[A-Za-z0-9_-]{32,100}
  | [sr]k_(?:live|test)_[A-Za-z0-9]{16,200} | whsec_[A-Za-z0-9+/]{24,100} | shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}
  | dop_v1_[a-f0-9]{64} | lin_api_[A-Za-z0-9]{32,100} | ntn_[A-Za-z0-9]{40,100} | secret_[A-Za-z0-9]{40,100}
  | xox[abeoprs]-[A-Za-z0-9-]{10,200} | xapp-\d-[A-Za-z0-9-]{20,200} | tvly-[A-Za-z0-9-]{20,100}
  | key-[a-f0-9]{32} | AGE-SECRET-KEY-1[A-Z0-9]{58} | glsa_[A-Za-z0-9_]{32,100} | dapi[a-f0-9]{32}
  | ATATT3[A-Za-z0-9_=-]{50,300}
)(?![A-Za-z0-9_])"""
_VENDOR_NEEDS = (
    *(
        "sk-",
        "aiza",
        "ya29.",
        "github_pat_",
        "hf_",
        "npm_",
        "gsk_",
        "xai-",
        "pplx-",
        "r8_",
        "nvapi-",
        "k_live_",
    ),
    *("k_test_", "whsec_", "shpat_", "shpca_", "shppa_", "shpss_", "dop_v1_", "lin_api_", "ntn_", "secret_"),
    *("xox", "xapp-", "tvly-", "key-", "glsa_", "dapi", "atatt3"),
)

_NAMES = (
    r"pass(?:word|wd|phrase|code)|pwd|secret|api[_-]?key|(?:access|auth|refresh|session|id|bot|bearer)[_-]?token"
    r"|client[_-]?secret|(?:private|secret|signing|encryption|account|storage|shared)[_-]?(?:access[_-]?)?key"
    r"|credentials?"
)
_NAME_NEEDS = ("pass", "pwd", "secret", "api_key", "api-key", "apikey", "token", "_key", "-key", "credential")

# Values that stand for a secret without being one.
_STAND_IN = re.compile(
    r"(?i)(?:\$|<|\{|%\(|\[|\*|x{3,}|\.{3}|…|‹|your|my[_-]|example|changeme|placeholder|redacted|none$|null$"
    r"|true$|false$|undefined$|nil$|os\.|process\.|env\b|getenv|config|settings|self\.|str$|string$|required)"
)


def is_stand_in(value: str) -> bool:
    """Whether a value only stands for a secret: a variable, a placeholder, a type's name."""
    return _STAND_IN.match(value) is not None


def _is_value(value: str) -> bool:
    """Whether an assigned value looks like a secret and not like code, prose or a number."""
    if is_stand_in(value) or value.isdigit():
        return False
    return "(" not in value and not value.startswith((".", "/"))


def _is_told(value: str) -> bool:
    return not is_stand_in(value)


def _is_address(value: str) -> bool:
    try:
        address = ipaddress.ip_address(value)
    except ValueError:
        return False
    return not (address.is_loopback or address.is_unspecified)


def _is_phone(value: str) -> bool:
    return 9 <= sum(char.isdigit() for char in value) <= 15


def _is_card(value: str) -> bool:
    """The check digit of payment cards (Luhn)."""
    digits = [int(char) for char in value if char.isdigit()]
    if not 13 <= len(digits) <= 19 or len(set(digits)) == 1:
        return False
    doubled = [d * 2 - 9 if d > 4 else d * 2 for d in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _is_mail(value: str) -> bool:
    """``git@host`` is how code hosts are written; it names nobody."""
    return not value.lower().startswith(("git@", "noreply@", "no-reply@"))


def _is_user(value: str) -> bool:
    return value.lower() not in ("shared", "public", "user", "username", "you", "me", "runner", "root")


_OWN: tuple[Shape, ...] = (
    Shape(
        "private-key",
        re.compile(
            r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----[^-]{0,16384}"
            r"(?:-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----)?"
        ),
        needs=("private key",),
        reach=17_000,
        closed=True,
    ),
    Shape("api-key", re.compile(_VENDOR_KEYS, re.VERBOSE), needs=_VENDOR_NEEDS, closed=True, running=True),
    Shape(
        "api-key",
        re.compile(r"[MNO][A-Za-z\d_-]{23,25}\.[A-Za-z\d_-]{6}\.[A-Za-z\d_-]{27,38}(?![\w-])"),
        needs=("discord",),
    ),
    Shape(
        "token",
        re.compile(
            r"\b(?:authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:bearer|basic|token|digest)\s{1,4}([^\s\"',;]{6,4096}))"
        ),
        needs=("authorization",),
        reach=4200,
        folded=True,
    ),
    Shape(
        "token",
        re.compile(r"\bbearer\s{1,4}([a-z0-9._~+/-]{16,4096}={0,2})"),
        needs=("bearer",),
        reach=4200,
        folded=True,
    ),
    Shape(
        "token",
        re.compile(
            r"\b(?:x-api-key|x-auth-token|api-key|_authtoken)[\"']?\s{0,4}[:=]\s{0,4}[\"']?([a-z0-9._~+/=-]{8,512})"
        ),
        needs=("-api-key", "-auth-token", "api-key", "_authtoken"),
        folded=True,
        accept=_is_told,
    ),
    Shape(
        "cookie",
        re.compile(r"\b(?:set-)?cookie:[ \t]{0,4}([^\r\n\"']{4,4096})"),
        needs=("cookie:",),
        reach=4200,
        folded=True,
    ),
    Shape(
        "password",
        re.compile(r"[A-Za-z0-9+.-]{1,30}://[^\s:/?#@\"'<>]{0,256}:([^\s/@\"'<>]{1,256})@"),
        needs=("://",),
        closed=True,
        accept=_is_told,
    ),
    Shape(
        "password",
        re.compile(rf"(?:{_NAMES})[\"']?\s{{0,4}}[:=]\s{{0,4}}[\"']?([^\s\"',;}}{{)\]&]{{6,512}})"),
        needs=_NAME_NEEDS,
        folded=True,
        accept=_is_value,
    ),
    Shape(
        "oauth-value",
        re.compile(
            r"[?&;](?:code|state|access_token|refresh_token|id_token|token|client_secret|api_?key|key|sig"
            r"|signature|x-amz-(?:signature|credential|security-token)|x-goog-signature)=([^&\s\"'<>#;]{6,4096})"
        ),
        needs=("code=", "state=", "token=", "secret=", "key=", "sig=", "signature=", "credential="),
        reach=4200,
        folded=True,
        accept=_is_told,
    ),
    Shape(
        "e-mail",
        re.compile(
            r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9-])"
        ),
        needs=("@",),
        reach=400,
        accept=_is_mail,
    ),
    Shape(
        "phone",
        re.compile(r"(?<![\w+.])\+\d{1,3}[ .-]?\(?\d{1,4}\)?(?:[ .-]?\d{2,4}){2,4}(?!\w)"),
        needs=("+",),
        reach=40,
        accept=_is_phone,
    ),
    Shape(
        "phone",
        re.compile(r"(?<![\w.+/-])(?:\(\d{3}\)|\d{3})[ .-]\d{3}[ .-]\d{4}(?![\w-])"),
        accept=_is_phone,
    ),
    Shape("card", re.compile(r"(?<![\w.-])\d{4}(?:[ -]?\d){9,15}(?![\w-])"), accept=_is_card),
    Shape("ip", re.compile(r"(?<![\w.-])\d{1,3}(?:\.\d{1,3}){3}(?![\w-]|\.\d)"), accept=_is_address),
    Shape(
        "ip",
        re.compile(r"(?<![\w:.])(?:[0-9a-fA-F]{1,4}:){2,7}(?::?[0-9a-fA-F]{1,4}){1,6}(?![\w:])"),
        needs=(
            "::",
            "0:",
            "1:",
            "2:",
            "3:",
            "4:",
            "5:",
            "6:",
            "7:",
            "8:",
            "9:",
            "a:",
            "b:",
            "c:",
            "d:",
            "e:",
            "f:",
        ),
        reach=48,
        accept=_is_address,
    ),
    Shape(
        "user",
        re.compile(r"(?:/home/|/users/|\b[a-z]:[\\/]{1,4}users[\\/]{1,4})([^\s/\\:\"'<>|*?,;)\]]{1,64})"),
        needs=("/home/", "users"),
        reach=100,
        folded=True,
        accept=_is_user,
    ),
)


@cache
def default_shapes() -> tuple[Shape, ...]:
    """The shapes of every export: ours and detect-secrets'."""
    found = list(_OWN)
    for name, needs in _DETECTORS.items():
        module, _, attribute = name.partition(".")
        detector = getattr(import_module(f"detect_secrets.plugins.{module}"), attribute)()
        kind = "token" if module == "jwt" else "api-key"
        # Prefixes and lengths, so they end by themselves or with their characters.
        found += (
            Shape(kind, _ungrouped(pattern), needs, closed=True, running=True)
            for pattern in detector.denylist
        )
    return tuple(found)


def _ungrouped(pattern: re.Pattern[str]) -> re.Pattern[str]:
    """The pattern without its groups: some detectors group a prefix, not the secret."""
    return re.compile(re.sub(r"(?<!\\)\((?!\?)", "(?:", pattern.pattern), pattern.flags)
