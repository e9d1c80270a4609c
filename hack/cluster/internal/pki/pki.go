// Package pki is the cluster's certificate authority: one CA that signs every
// serving and client certificate, all of them ECDSA P-256.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

const validity = 5 * 365 * 24 * time.Hour

// Pair is a certificate and its key, both PEM.
type Pair struct {
	Certificate []byte
	Key         []byte
}

// Authority signs with the CA kept in one directory as ca.crt and ca.key.
type Authority struct {
	dir         string
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	PEM         []byte
}

// Request describes one certificate; Groups become the subject's organisations.
type Request struct {
	User   string
	Groups []string
	DNS    []string
	IPs    []string
}

// Ensure loads the authority of dir, or makes it.
func Ensure(dir string) (*Authority, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	authority, err := Load(dir)
	if !errors.Is(err, os.ErrNotExist) {
		return authority, err
	}
	key, keyPEM, err := newKey()
	if err != nil {
		return nil, err
	}
	template := template("graphwright-cluster-ca")
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	pair := Pair{Certificate: pemBlock("CERTIFICATE", der), Key: keyPEM}
	if err := pair.write(dir, "ca"); err != nil {
		return nil, err
	}
	return Load(dir)
}

// Load reads an authority that exists.
func Load(dir string) (*Authority, error) {
	certPEM, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	if err != nil {
		return nil, err
	}
	keyPEM, err := os.ReadFile(filepath.Join(dir, "ca.key"))
	if err != nil {
		return nil, err
	}
	certBlock, _ := pem.Decode(certPEM)
	keyBlock, _ := pem.Decode(keyPEM)
	if certBlock == nil || keyBlock == nil {
		return nil, fmt.Errorf("the certificate authority in %s is damaged", dir)
	}
	certificate, err := x509.ParseCertificate(certBlock.Bytes)
	if err != nil {
		return nil, err
	}
	key, err := x509.ParseECPrivateKey(keyBlock.Bytes)
	if err != nil {
		return nil, err
	}
	return &Authority{dir: dir, certificate: certificate, key: key, PEM: certPEM}, nil
}

// Sign issues a certificate that serves and authenticates as a client.
func (a *Authority) Sign(request Request) (Pair, error) {
	key, keyPEM, err := newKey()
	if err != nil {
		return Pair{}, err
	}
	template := template(request.User)
	template.Subject.Organization = request.Groups
	template.DNSNames = request.DNS
	for _, ip := range request.IPs {
		template.IPAddresses = append(template.IPAddresses, net.ParseIP(ip))
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return Pair{}, err
	}
	return Pair{Certificate: pemBlock("CERTIFICATE", der), Key: keyPEM}, nil
}

// EnsureFiles signs into NAME.crt and NAME.key unless they exist already.
func (a *Authority) EnsureFiles(name string, request Request) error {
	if _, err := os.Stat(filepath.Join(a.dir, name+".crt")); err == nil {
		return nil
	}
	pair, err := a.Sign(request)
	if err != nil {
		return err
	}
	return pair.write(a.dir, name)
}

// EnsureKey makes the key of a token signer (NAME.key) unless it exists.
func (a *Authority) EnsureKey(name string) error {
	path := filepath.Join(a.dir, name+".key")
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	_, keyPEM, err := newKey()
	if err != nil {
		return err
	}
	return os.WriteFile(path, keyPEM, 0o600)
}

func (p Pair) write(dir, name string) error {
	if err := os.WriteFile(filepath.Join(dir, name+".key"), p.Key, 0o600); err != nil {
		return err
	}
	// The certificate last: its presence says that the pair is complete.
	return os.WriteFile(filepath.Join(dir, name+".crt"), p.Certificate, 0o644)
}

func template(commonName string) *x509.Certificate {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		panic(err) // the system's randomness is gone
	}
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: commonName},
		NotBefore:    time.Now().Add(-time.Hour), // clocks that differ a little
		NotAfter:     time.Now().Add(validity),
	}
}

func newKey() (*ecdsa.PrivateKey, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	return key, pemBlock("EC PRIVATE KEY", der), nil
}

func pemBlock(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
