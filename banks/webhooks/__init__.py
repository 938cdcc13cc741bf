"""Webhooks from Hindsight: registered through the door, checked by their signature, and only ever a reason to look."""
