import { GetParameterCommand, type SSMClient } from '@aws-sdk/client-ssm';
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import * as z from 'zod';
import { parameterOf, prometheusRegion } from '../contract/remote-write.ts';
import { parsedJson } from '../core/parsed-json.ts';
import type { Credentials } from './access.ts';
import type { Calls } from './calls.ts';

type Headers = Readonly<Record<string, string>>;

/** Adds to a request's headers what makes it known. */
export type Signer = (address: URL, headers: Headers, body: Uint8Array) => Promise<Headers>;

/** What the secret holds: a token, or a name and a password, or the token alone as it is. */
const secretText = z.union([
  z.object({ username: z.string().min(1), password: z.string() }),
  z.object({ token: z.string().min(1) }),
]);

export interface SignerParts {
  readonly endpoint: URL;
  /** ARN of a secret; undefined: by the endpoint. */
  readonly secret: string | undefined;
  readonly ssm: SSMClient;
  readonly calls: Calls;
  readonly credentials: () => Promise<Credentials>;
}

/** SigV4 for Amazon Managed Prometheus, the secret for every other endpoint, else nothing. */
export function signerFor(parts: SignerParts): Signer {
  const { endpoint, secret, credentials } = parts;
  if (secret !== undefined) return secretSigner(parts, secret);
  const region = prometheusRegion(endpoint);
  if (region === undefined) return async (_, headers) => headers;
  const signer = new SignatureV4({ service: 'aps', region, credentials, sha256: Sha256 });
  return async ({ protocol, hostname, pathname }, headers, body) => {
    const request = { method: 'POST', protocol, hostname, path: pathname, headers, body };
    return (await signer.sign({ ...request, headers: { ...headers } })).headers;
  };
}

/** A secret that was changed is in use after so long, and after a sandbox at once. */
const SECRET_MS = 10 * 60_000;

function secretSigner({ ssm, calls }: SignerParts, secret: string): Signer {
  let known: { readonly authorization: string; readonly untilMs: number } | undefined;
  return async (_, headers) => {
    const nowMs = calls.timing.nowMs();
    if (known === undefined || known.untilMs <= nowMs) {
      const authorization = authorizationOf(await readSecret(ssm, calls, secret), secret);
      known = { authorization, untilMs: nowMs + SECRET_MS };
    }
    return { ...headers, authorization: known.authorization };
  };
}

async function readSecret(ssm: SSMClient, calls: Calls, secret: string): Promise<string> {
  const command = new GetParameterCommand({ Name: parameterOf(secret), WithDecryption: true });
  const { Parameter } = await calls.run('ssm:GetParameter', () => ssm.send(command));
  const text = Parameter?.Value?.trim() ?? '';
  if (text === '') throw new Error(`the secret ${secret} is empty`);
  return text;
}

/** The header of what the secret holds; its text is in no message. */
export function authorizationOf(text: string, secret: string): string {
  if (!text.startsWith('{')) return `Bearer ${text}`;
  const parsed = secretText.safeParse(parsedJson(text));
  if (!parsed.success) {
    throw new Error(
      `the secret ${secret} has to be a token, {"token": …} or {"username": …, "password": …}`,
    );
  }
  const { data } = parsed;
  if ('token' in data) return `Bearer ${data.token}`;
  return `Basic ${Buffer.from(`${data.username}:${data.password}`).toString('base64')}`;
}
