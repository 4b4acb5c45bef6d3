"""No fix writes a member that the user's own class has: a method would call itself."""

import pytest

from kdoctor.engine import fix

CLASS = "import keras\n\n\nclass Own(keras.{}):\n    {}\n"


@pytest.mark.parametrize(
    ("base", "body", "written"),
    [
        ("Model", "def predict(self, x):\n        return self.predict_generator(x)", ""),
        ("Model", "def fit(self, x):\n        return self.fit_generator(x)", ""),
        ("Model", "def run(self, x):\n        return self.predict_generator(x)", "self.predict(x"),
        (
            "Model",
            "def predict(self, x):\n        return super().predict_generator(x)",
            "super().predict(x",
        ),
        ("Model", "@property\n    def name(self):\n        return self._name", ""),
        (
            "Model",
            "name = 'own'\n\n    def call(self, x):\n        self._name = 'mine'\n        return x",
            "",
        ),
        (
            "Model",
            "def call(self, x):\n        self._name = 'mine'\n        return x",
            "self.name =",
        ),
        (
            "Model",
            (
                "def run(self, x):\n        return self.predict_generator(x)\n\n\n"
                "class Sub(Own):\n    def predict(self, x):\n        return self.run(x)"
            ),
            "",
        ),
        (
            "optimizers.SGD",
            "@property\n    def learning_rate(self):\n        return self.lr",
            "",
        ),
        ("optimizers.SGD", "def rate(self):\n        return self.lr", "self.learning_rate"),
    ],
)
def test_a_member_of_the_users_own_is_not_written(tmp_path, base, body, written):
    (tmp_path / "own.py").write_text(CLASS.format(base, body))
    files = fix([tmp_path / "own.py"]).files
    assert [written in each.after.decode() for each in files] == ([True] if written else [])
