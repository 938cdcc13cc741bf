"""Formats of credentials that detect-secrets knows. Only its patterns are used: nothing is ever verified by a call."""

import re
from functools import cache
from importlib import import_module

# What the library calls them is what a reader is told. Left out: what is no secret by itself (the ids of Twilio
# accounts, public addresses), and what matches ordinary words.
_PLUGINS = {
    "aws": ("AWSKeyDetector", "AWS key"),
    "basic_auth": ("BasicAuthDetector", "password in an address"),
    "cloudant": ("CloudantDetector", "Cloudant key"),
    "discord": ("DiscordBotTokenDetector", "Discord token"),
    "github_token": ("GitHubTokenDetector", "GitHub token"),
    "gitlab_token": ("GitLabTokenDetector", "GitLab token"),
    "ibm_cos_hmac": ("IbmCosHmacDetector", "IBM key"),
    "mailchimp": ("MailchimpDetector", "Mailchimp key"),
    "openai": ("OpenAIDetector", "OpenAI key"),
    "pypi_token": ("PypiTokenDetector", "PyPI token"),
    "sendgrid": ("SendGridDetector", "SendGrid key"),
    "slack": ("SlackDetector", "Slack token"),
    "softlayer": ("SoftlayerDetector", "SoftLayer key"),
    "square_oauth": ("SquareOAuthDetector", "Square key"),
    "stripe": ("StripeDetector", "Stripe key"),
    "telegram_token": ("TelegramBotTokenDetector", "Telegram token"),
}
# Patterns of the library that hold a whole key, with a group that is only its prefix.
_PREFIX = re.compile(r"^\((?:[a-z]+\|)+[a-z]+\)")


@cache
def patterns() -> list[tuple[str, re.Pattern[str], bool]]:
    """(name, pattern, whether a group of it is the value)."""
    found = []
    for module, (detector, name) in _PLUGINS.items():
        plugin = getattr(import_module(f"detect_secrets.plugins.{module}"), detector)()
        for pattern in plugin.denylist:
            found.append((name, pattern, pattern.groups > 0 and not _PREFIX.match(pattern.pattern)))
    return found
