/*
 * Proves work: finds what makes the digest of a token begin with so many bits of zero (arena/process/proof.py). Works
 * where the browser has digests of its own, which a page without HTTPS has not: canProve tells.
 */
const AT_ONCE = 512; // answers that are tried together

export const canProve = Boolean(globalThis.crypto?.subtle);

async function begins(token, answer, bits) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`${token}:${answer}`));
  return new DataView(digest).getUint32(0) < 2 ** (32 - bits);
}

export async function proof(token, bits) {
  for (let start = 0; ; start += AT_ONCE) {
    const tried = await Promise.all(Array.from({ length: AT_ONCE }, (_, number) => begins(token, start + number, bits)));
    if (tried.includes(true)) {
      return start + tried.indexOf(true);
    }
  }
}
