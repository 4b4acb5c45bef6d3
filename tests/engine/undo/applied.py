"""What is applied to a project, and the journals of it."""

from pathlib import Path

from kdoctor import fix
from kdoctor.engine.fixes.undo_folder import UndoProject, journals_of_user

OLD = "from keras import backend as K\n\n\ndef loss(a, b):\n    return K.sum(a * b)\n"


OTHER = OLD.replace("sum", "max")


def apply(path: str = "."):
    result = fix([path], apply=True, jobs=1)
    assert result.files
    assert not result.no_undo
    return result


def journals(folder: Path) -> Path:
    return journals_of_user() / UndoProject.at(folder).name


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.glob("src/*.py")}
