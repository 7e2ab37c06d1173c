"""A certificate authority of our own, and certificates that it signs, as PEM files."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

_FROM = datetime(2020, 1, 1, tzinfo=UTC)
_DAYS = 365 * 60
_SIGNS = x509.KeyUsage(
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """PEM files of a certificate and of its key."""

    cert_file: Path
    key_file: Path


class Authority:
    """Signs certificates for 127.0.0.1 under its own root, written to `folder`."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self._folder = folder
        self._name = _named(name)
        self._key = ec.generate_private_key(ec.SECP256R1())
        root = _builder(self._name, self._name, self._key.public_key())
        root = root.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        root = root.add_extension(x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False)
        root = root.add_extension(_SIGNS, critical=True)
        self.ca_file = folder / f"{name}.pem"
        self.ca_file.write_bytes(root.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))

    def sign(self, name: str, phrase: bytes = b"") -> Certificate:
        """A certificate of that name, good for a server on 127.0.0.1 and for a client. phrase: what the key is encrypted under."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(_named(name), self._name, key.public_key())
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        builder = builder.add_extension(issuer, critical=False)  # Python 3.13 takes no certificate without
        made = Certificate(cert_file=self._folder / f"{name}.pem", key_file=self._folder / f"{name}.key")
        made.cert_file.write_bytes(builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        made.key_file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.BestAvailableEncryption(phrase) if phrase else serialization.NoEncryption(),
            )
        )
        return made


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(_FROM)
        .not_valid_after(_FROM + timedelta(days=_DAYS))
    )
