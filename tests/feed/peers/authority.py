# SPDX-License-Identifier: GPL-2.0-or-later
"""Certificates as a mesh has them: an authority, istiod's certificate, the
VM's with its SPIFFE identity, expired ones and ones of another authority."""
import datetime

from netlab.outcome import Skip

try:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
except ImportError as missing:
    raise Skip("python3-cryptography is not installed") from missing

SERVER = "istiod.istio-system.svc"
VM = "spiffe://cluster.local/ns/shop/sa/vm"
HOUR = 3600


def _name(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _pem(certificate):
    return certificate.public_bytes(serialization.Encoding.PEM)


class Pair:
    """A certificate and its key, as PEM."""

    def __init__(self, certificate, key, chain=b""):
        self.certificate = _pem(certificate) + chain
        self.key = key.private_bytes(serialization.Encoding.PEM,
                                     serialization.PrivateFormat.PKCS8,
                                     serialization.NoEncryption())

    def write(self, certificate, key):
        certificate.write_bytes(self.certificate)
        key.write_bytes(self.key)


class Authority:
    def __init__(self, name="mesh"):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = _name(f"root of {name}")
        begin = datetime.datetime.utcnow() - datetime.timedelta(days=1000)
        self.root = (
            x509.CertificateBuilder().subject_name(self.name).issuer_name(self.name)
            .public_key(self.key.public_key()).serial_number(x509.random_serial_number())
            .not_valid_before(begin).not_valid_after(begin + datetime.timedelta(days=20000))
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self.key.public_key()),
                           critical=False)
            .sign(self.key, hashes.SHA256()))
        self.pem = _pem(self.root)

    def pair(self, *names, begin=-HOUR, end=24 * HOUR):
        """Valid from "begin" to "end", in seconds from now.  A name that has
        "://" is a URI, one that is an address an IP, any other a DNS name."""
        import ipaddress
        alternatives = []
        for name in names:
            if "://" in name:
                alternatives.append(x509.UniformResourceIdentifier(name))
                continue
            try:
                alternatives.append(x509.IPAddress(ipaddress.ip_address(name)))
            except ValueError:
                alternatives.append(x509.DNSName(name))
        key = ec.generate_private_key(ec.SECP256R1())
        now = datetime.datetime.utcnow()
        certificate = (
            x509.CertificateBuilder().subject_name(_name("")).issuer_name(self.name)
            .public_key(key.public_key()).serial_number(x509.random_serial_number())
            .not_valid_before(now + datetime.timedelta(seconds=begin))
            .not_valid_after(now + datetime.timedelta(seconds=end))
            .add_extension(x509.SubjectAlternativeName(alternatives), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH,
                                                  ExtendedKeyUsageOID.CLIENT_AUTH]),
                           critical=False)
            .sign(self.key, hashes.SHA256()))
        return Pair(certificate, key)

    def write(self, path):
        """Key and certificate, for another process to sign with."""
        path.write_bytes(self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption()) + self.pem)

    @classmethod
    def read(cls, path):
        authority = cls.__new__(cls)
        with open(path, "rb") as file:
            octets = file.read()
        authority.key = serialization.load_pem_private_key(octets, None)
        authority.pem = octets[octets.index(b"-----BEGIN CERTIFICATE"):]
        authority.root = x509.load_pem_x509_certificate(authority.pem)
        authority.name = authority.root.subject
        return authority

    def certify(self, request, life):
        """The chain for a request (PEM) of the VM: its certificate, the root."""
        read = x509.load_pem_x509_csr(request)
        if not read.is_signature_valid:
            raise ValueError("the request's signature")
        now = datetime.datetime.utcnow()
        certificate = (
            x509.CertificateBuilder().subject_name(_name("")).issuer_name(self.name)
            .public_key(read.public_key()).serial_number(x509.random_serial_number())
            .not_valid_before(now).not_valid_after(now + datetime.timedelta(seconds=life))
            .add_extension(x509.SubjectAlternativeName([x509.UniformResourceIdentifier(VM)]),
                           critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH,
                                                  ExtendedKeyUsageOID.CLIENT_AUTH]),
                           critical=False)
            .sign(self.key, hashes.SHA256()))
        return [_pem(certificate).decode(), self.pem.decode()]

    def server(self, **options):
        return self.pair(SERVER, **options)

    def vm(self, **options):
        return self.pair(VM, **options)
