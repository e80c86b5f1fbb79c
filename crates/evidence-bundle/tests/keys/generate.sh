#!/usr/bin/env bash
# Writes the test keys of this directory anew, with openssl and ssh-keygen. Run it inside the directory.
# TEST KEYS: they are public, protect nothing and must never be trusted. Passphrase of the encrypted ones: correct horse
set -euo pipefail

openssl genpkey -algorithm ed25519 -out pkcs8_v1.pem
openssl pkey -in pkcs8_v1.pem -pubout -out public.pem
for cipher in aes-128-cbc aes-256-cbc; do
    openssl pkcs8 -topk8 -v2 "$cipher" -in pkcs8_v1.pem -passout "pass:correct horse" -out "encrypted_$cipher.pem"
done
openssl pkcs8 -topk8 -scrypt -in pkcs8_v1.pem -passout "pass:correct horse" -out encrypted_scrypt.pem
openssl pkcs8 -topk8 -v1 PBE-SHA1-3DES -in pkcs8_v1.pem -passout "pass:correct horse" -out encrypted_pbes1.pem
openssl pkcs8 -topk8 -v2 des3 -in pkcs8_v1.pem -passout "pass:correct horse" -out encrypted_des3.pem
openssl pkcs8 -topk8 -v2 aes-256-cbc -v2prf hmacWithSHA1 -in pkcs8_v1.pem -passout "pass:correct horse" -out encrypted_sha1.pem
openssl genpkey -algorithm rsa -pkeyopt rsa_keygen_bits:2048 -out rsa.pem
openssl rsa -in rsa.pem -traditional -out rsa_pkcs1.pem
openssl pkey -in rsa.pem -pubout -out rsa_public.pem
openssl ecparam -name prime256v1 -genkey -out ec_sec1.pem
openssl pkcs8 -topk8 -nocrypt -in ec_sec1.pem -out ec.pem
openssl genpkey -algorithm x25519 -out x25519.pem
openssl genpkey -algorithm ed448 -out ed448.pem
openssl req -x509 -key pkcs8_v1.pem -subj "/CN=test" -days 36500 -out certificate.pem
openssl req -new -key pkcs8_v1.pem -subj "/CN=test" -out request.pem
rm -f openssh* ssh_*
ssh-keygen -q -t ed25519 -N "" -C "test key" -f openssh
ssh-keygen -q -p -P "" -N "" -f openssh
cp openssh openssh_encrypted
ssh-keygen -q -p -P "" -N "correct horse" -f openssh_encrypted
for cipher in 3des-cbc aes256-gcm chacha20-poly1305; do
    file=openssh_encrypted_$cipher
    cp openssh "$file"
    suffix=@openssh.com
    [ "$cipher" != 3des-cbc ] || suffix=
    ssh-keygen -q -p -P "" -N "correct horse" -Z "$cipher$suffix" -f "$file"
done
ssh-keygen -q -t rsa -b 2048 -N "" -C "test key" -f ssh_rsa
ssh-keygen -q -t rsa -b 2048 -N "correct horse" -C "test key" -f ssh_rsa_encrypted
ssh-keygen -q -t ecdsa -N "" -C "test key" -f ssh_ecdsa
ssh-keygen -q -s openssh -I test -n test openssh.pub
ssh-keygen -lf openssh.pub >openssh.fingerprint
