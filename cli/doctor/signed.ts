import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Credentials } from '../../shared/aws/access.ts';
import { parsedJson } from '../../shared/core/parsed-json.ts';
import { property, text } from '../../shared/kube/list.ts';
import { hostOf, reasonOf } from './endpoints.ts';

/** The few services of which one call each is needed are called without a client of the SDK. */
export interface Signing {
  readonly region: string;
  readonly credentials: () => Promise<Credentials>;
  /** Undefined: AWS's own. */
  readonly endpoint: string | undefined;
}

export interface SignedCall {
  /** As requests are signed for, and the first part of the host. */
  readonly service: 'sts' | 'lambda' | 'servicequotas';
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A refusal of AWS with its code. */
export class AwsRefusal extends Error {
  override readonly name = 'AwsRefusal';
  readonly code: string;

  constructor(code: string, message: string) {
    super(`${code}: ${message}`);
    this.code = code;
  }
}

const ANSWER_MS_MAX = 10_000;

/** The body of the answer; a refusal is an {@link AwsRefusal}. */
export async function signedCall(signing: Signing, call: SignedCall): Promise<string> {
  const { region, credentials, endpoint } = signing;
  const url = new URL(endpoint ?? `https://${hostOf(call.service, region)}`);
  const signer = new SignatureV4({ service: call.service, region, credentials, sha256: Sha256 });
  const signed = await signer.sign({
    method: call.method,
    protocol: url.protocol,
    hostname: url.hostname,
    ...(url.port === '' ? {} : { port: Number(url.port) }),
    path: call.path,
    query: {},
    headers: { ...call.headers, host: url.host },
    ...(call.body === undefined ? {} : { body: call.body }),
  });
  const { host: _, ...headers } = signed.headers;
  const response = await fetch(new URL(call.path, url), {
    method: call.method,
    headers,
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
    ...(call.body === undefined ? {} : { body: call.body }),
  }).catch((error: unknown) => {
    throw new Error(`${url.host} does not answer: ${reasonOf(error, ANSWER_MS_MAX)}`);
  });
  const body = await response.text();
  if (response.ok) return body;
  throw refusal(response.status, response.headers.get('x-amzn-errortype') ?? '', body);
}

/** Codes come in a header, in JSON or in XML, sometimes with a namespace or an address. */
function refusal(status: number, header: string, body: string): AwsRefusal {
  const json = parsedJson(body);
  const inXml = (name: string): string => new RegExp(`<${name}>([^<]*)<`).exec(body)?.[1] ?? '';
  const type = header || text(property(json, '__type')) || inXml('Code');
  const code = type.replace(/^.*#/, '').replace(/:.*$/, '') || `HTTP ${status}`;
  const message =
    text(property(json, 'message')) || text(property(json, 'Message')) || inXml('Message');
  return new AwsRefusal(code, message || 'no message');
}
