"""Who is trusted by the control plane: an authority of its own, the server's certificate, the key of service accounts, an administrator."""

import secrets
from pathlib import Path

import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.connectors.http.certificates import Authority


class Credentials:
    """All of it, new, as files in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        authority = Authority(folder)
        self.ca_file = authority.ca_file
        self.serving = authority.sign("kube-apiserver")
        self.account_key_file = folder / "accounts.key"
        self.account_key_file.write_bytes(
            ec.generate_private_key(ec.SECP256R1()).private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
            )
        )
        self.admin_token = secrets.token_hex(16)
        self.token_file = folder / "tokens.csv"
        self.token_file.write_text(f'{self.admin_token},admin,admin,"system:masters"\n')

    def kubeconfig(self, server: str) -> Path:
        """The administrator's way into the server."""
        path = self.folder / "admin.kubeconfig"
        path.write_text(yaml.safe_dump(kubeconfig(server, self.ca_file, self.admin_token)))
        return path


def kubeconfig(server: str, ca_file: Path, token: str) -> dict[str, object]:
    """A kubeconfig of one context, `test`."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "test",
        "clusters": [{"name": "test", "cluster": {"server": server, "certificate-authority": str(ca_file)}}],
        "users": [{"name": "test", "user": {"token": token}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
    }
