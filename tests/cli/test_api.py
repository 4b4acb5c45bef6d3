"""``kdoctor api`` from end to end."""

from __future__ import annotations


def test_a_function_of_the_backend_with_what_to_write_instead(project):
    ended = project.kdoctor("api", "keras.backend.dot")
    assert ended.code == 0
    assert ended.out.startswith("keras.backend.dot (function)\n\n  keras                    2.0")
    assert "\u20132.15.0  gone in 3.0.0\n" in ended.out
    rewrite = "keras.backend.dot(x, y) -> keras.ops.dot(x, y)\n      KD101, safe, where nothing_s"
    assert rewrite in ended.out
    told = project.kdoctor("api", "keras.backend.dot", "--json").json
    assert told["known"]
    assert told["roots"]["keras"]["until"] == "2.15.0"
    assert told["roots"]["tf.keras"]["until"] is None
    found = [(each["rule"], each["applicability"]) for each in told["rewrites"]]
    # `ops.dot` and `ops.matmul`, each where its proof holds, and elsewhere.
    assert found == [("KD101", each) for each in ("safe", "safe", "unsafe", "unsafe")]
    # The last resort asks nothing of a use.
    assert [each["when"] for each in told["rewrites"][2:]] == ["nothing_sparse()", None]
    assert ended.out.endswith("      KD101, unsafe\n")


def test_a_moved_class_and_its_changes(project):
    out = project.kdoctor("api", "keras.layers.core.Dense").out
    assert "moved: keras.layers.Dense, since 2.0" in out
    out = project.kdoctor("api", "Dense").out
    assert "keras, tf.keras 3.0.5: +lora_rank=None\n" in out


def test_what_never_existed_ends_with_one_and_a_suggestion(project):
    ended = project.kdoctor("api", "K.squeze")
    assert ended.code == 1
    assert ended.out == (
        "'K.squeze' never existed in any known release; did you mean keras.backend.squeeze?\n"
    )
    assert project.kdoctor("api", "K.squeze", "--json").json["suggestions"]


def test_a_name_that_is_none_of_keras_is_not_said_to_have_never_existed(project):
    ended = project.kdoctor("api", "tf.Session")
    assert ended.code == 1
    assert ended.out.startswith("'tf.Session' is not a Keras name, and kdoctor knows no others")
    assert "never existed" in project.kdoctor("api", "tf.keras.nothing").out


def test_a_name_of_several_things_lists_them(project):
    ended = project.kdoctor("api", "get")
    assert ended.code == 0
    assert ended.out.startswith("'get' may mean:\n  keras.activations.get\n")


def test_a_member_names_the_classes_that_have_it_and_the_rules(project):
    out = project.kdoctor("api", "Model.predict_classes").out
    assert "No known release has Model.predict_classes." in out
    assert "  keras: Sequential" in out
    assert "gone in 2.6.0" in out
