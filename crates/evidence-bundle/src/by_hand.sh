bundle=BUNDLE.tar.gz key=KEY.pub.pem &&
printf '\37\213\10\0\0\0\0\0\0\377' | cmp -n 10 - "$bundle" &&
mkdir b && gzip -dc <"$bundle" >b.tar &&
! tar -tvf b.tar | grep -v '^-rw-r--r--' && tar -xf b.tar -C b && cd b &&
openssl pkeyutl -verify -pubin -inkey "../$key" -rawin \
  -in checksums.sha256 -sigfile signature.sig &&
sha256sum --strict --quiet -c checksums.sha256 &&
created=$(grep -m 1 created_at manifest.json | cut -d '"' -f 4) &&
{ echo checksums.sha256; echo signature.sig; cut -c 67- checksums.sha256; } |
tar -c -f - -b 1 --format=posix --pax-option=exthdr.name=pax \
  --pax-option=delete=atime,delete=ctime --mtime="$created" --mode=0644 \
  --owner=0 --group=0 --numeric-owner --dereference --hard-dereference \
  --no-recursion --verbatim-files-from -T - | cmp - ../b.tar &&
echo 'Every byte is signed'
