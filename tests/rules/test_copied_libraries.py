"""Libraries that Keras 3 breaks, and a project that has one of that name itself."""

from __future__ import annotations

import pytest

from kdoctor.engine import scan

KERAS_3 = "keras==3.15.1"
USES = {
    "KD106": ("keras_contrib", "from keras_contrib.layers import CRF\n"),
    "KD107": ("keras_applications", "from keras_applications.vgg16 import VGG16\n"),
    "KD701": ("segmentation_models", "import segmentation_models\n"),
    "KD702": ("efficientnet", "from efficientnet.keras import EfficientNetB0\n"),
}


@pytest.mark.parametrize("code", USES)
def test_a_library_that_the_project_has_itself_is_not_the_published_one(tmp_path, code):
    library, source = USES[code]
    (tmp_path / "setup.py").touch()
    (tmp_path / "tests").mkdir()
    using = tmp_path / "tests" / "test_use.py"
    using.write_text(source)
    assert found(using, code) == [code]
    (tmp_path / library).mkdir()
    assert found(using, code) == [code], "a folder is passed over for what is installed"
    (tmp_path / library / "__init__.py").touch()
    assert found(using, code) == []


def found(path, code):
    """Return the codes of what is found in one file."""
    return [each.code for each in scan([str(path)], select=[code], target=KERAS_3).findings]
