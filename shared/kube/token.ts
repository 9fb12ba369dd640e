import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';

/** Where bearer tokens come from. */
export interface TokenSource {
  token(): Promise<string>;
  /** The server refused the last token: the next one must be new. */
  invalidate(): void;
}

/** A token that never changes: of a kubeconfig, or of a test. */
export function fixedToken(token: string): TokenSource {
  return { token: async () => token, invalidate: () => undefined };
}

/** A token and when it ends to be valid; undefined: never. */
export interface TimedToken {
  readonly value: string;
  readonly expiresAtMs: number | undefined;
}

/** A token that is about to expire is replaced this long before it does. */
const RENEW_BEFORE_MS = 120_000;

/** Keeps a token until shortly before it expires; callers at the same time share one renewal. */
export function renewingToken(make: () => Promise<TimedToken>, nowMs: () => number): TokenSource {
  let current: Promise<TimedToken> | undefined;
  const renew = async (): Promise<string> => {
    const made = make();
    current = made;
    try {
      return (await made).value;
    } catch (error) {
      if (current === made) current = undefined;
      throw error;
    }
  };
  return {
    token: async () => {
      if (current === undefined) return await renew();
      const pending = current;
      const { value, expiresAtMs } = await pending;
      const isFresh = expiresAtMs === undefined || nowMs() < expiresAtMs - RENEW_BEFORE_MS;
      if (isFresh) return value;
      // Whoever waited for the same old token first has started the renewal already.
      return current === pending ? await renew() : (await current).value;
    },
    invalidate: () => {
      current = undefined;
    },
  };
}

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface EksTokenOptions {
  readonly cluster: string;
  readonly region: string;
  readonly credentials: () => Promise<AwsCredentials>;
  readonly nowMs: () => number;
  /** Of the partition. @default 'amazonaws.com' */
  readonly dnsSuffix?: string;
}

/** EKS accepts a token for 15 minutes after it was signed, whatever X-Amz-Expires says. */
const EKS_TOKEN_MS = 15 * 60_000;
const SIGNATURE_SECONDS = 60;

/**
 * Tokens as EKS wants them: a presigned call of the region's STS GetCallerIdentity that names the
 * cluster in a signed header. Signing needs no network.
 * https://docs.aws.amazon.com/eks/latest/userguide/cluster-auth.html
 */
export function eksTokenSource(options: EksTokenOptions): TokenSource {
  return renewingToken(async () => {
    const signedAtMs = options.nowMs();
    const value = await eksToken(options, signedAtMs);
    return { value, expiresAtMs: signedAtMs + EKS_TOKEN_MS };
  }, options.nowMs);
}

async function eksToken(options: EksTokenOptions, nowMs: number): Promise<string> {
  const hostname = `sts.${options.region}.${options.dnsSuffix ?? 'amazonaws.com'}`;
  const signer = new SignatureV4({
    service: 'sts',
    region: options.region,
    credentials: options.credentials,
    sha256: Sha256,
  });
  const signed = await signer.presign(
    {
      method: 'GET',
      protocol: 'https:',
      hostname,
      path: '/',
      query: { Action: 'GetCallerIdentity', Version: '2011-06-15' },
      headers: { host: hostname, 'x-k8s-aws-id': options.cluster },
    },
    {
      expiresIn: SIGNATURE_SECONDS,
      signingDate: new Date(nowMs),
    },
  );
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(signed.query ?? {})) query.set(name, String(value));
  const url = `https://${hostname}/?${query.toString()}`;
  return `k8s-aws-v1.${Buffer.from(url).toString('base64url')}`;
}
