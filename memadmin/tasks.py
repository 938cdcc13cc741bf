from celery import shared_task

from memadmin import heartbeat


@shared_task
def sign_of_life(queue: str) -> str:
    heartbeat.give(queue)
    return queue
