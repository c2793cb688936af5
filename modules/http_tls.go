//go:build !plain

package modules

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/url"
	"os"
)

// tlsConfig is what the certificate arguments ask for.
func (h *httpClient) tlsConfig() (*tls.Config, error) {
	c := &tls.Config{InsecureSkipVerify: !h.ValidateCerts}
	if h.caPath != "" {
		pem, err := os.ReadFile(h.abs(h.caPath))
		if err != nil {
			return nil, Failf("cannot read ca_path %q: %s", h.caPath, osText(err, h.caPath))
		}
		if c.RootCAs, err = x509.SystemCertPool(); err != nil {
			c.RootCAs = x509.NewCertPool()
		}
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, Failf("cannot read ca_path %q: it holds no certificate", h.caPath)
		}
	}
	if h.ClientCert == "" {
		return c, nil
	}
	key := h.ClientKey
	if key == "" {
		key = h.ClientCert
	}
	pair, err := tls.LoadX509KeyPair(h.abs(h.ClientCert), h.abs(key))
	if err != nil {
		return nil, Failf("cannot read client_cert %q: %v", h.ClientCert, err)
	}
	c.Certificates = []tls.Certificate{pair}
	return c, nil
}

// certificateReason tells why a certificate was refused, "" for other errors.
func certificateReason(err error) string {
	var verify *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	if errors.As(err, &verify) || errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &invalid) {
		return err.Error()
	}
	return ""
}

func badCertificate(at *url.URL, reason string) string {
	host, port := "", "443"
	if at != nil {
		host = at.Hostname()
		if p := at.Port(); p != "" {
			port = p
		}
	}
	return "Failed to validate the SSL certificate for " + host + ":" + port + ". Make sure your managed systems have a valid CA certificate " +
		"installed. You can use validate_certs=False if you do not need to confirm the servers identity but this is unsafe and not " +
		"recommended. The exception msg was: " + reason + "."
}
