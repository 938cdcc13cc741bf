from django.urls import path

from reviews.views import facts

urlpatterns = [
    path("reviews/<int:pk>/facts/", facts.fact_list, name="fact-list"),
    path("reviews/<int:pk>/facts/retire/", facts.fact_retire, name="fact-retire"),
    path("reviews/<int:pk>/facts/restore/", facts.fact_restore, name="fact-restore"),
    path("reviews/<int:pk>/facts/edit/", facts.fact_edit, name="fact-edit"),
    path("facts/questions/<int:pk>/apply/", facts.question_apply, name="question-apply"),
    path("facts/questions/<int:pk>/let-go/", facts.question_let_go, name="question-let-go"),
    path("log/<int:pk>/restore/", facts.write_restore, name="write-restore"),
]
