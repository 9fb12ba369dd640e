import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { close, listen } from '../loopback.ts';

/** One AWS identity that the webhook knows, and who it is in the cluster. */
export interface KnownIdentity {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly username: string;
  readonly groups: readonly string[];
}

export interface TokenWebhook {
  readonly url: string;
  /** Why the last token was refused; undefined: it was accepted. */
  lastRefusal(): string | undefined;
  close(): Promise<void>;
}

/** EKS accepts a token for 15 minutes after it was signed. */
const TOKEN_MS = 15 * 60_000;
const PREFIX = 'k8s-aws-v1.';

/**
 * Does what EKS does with a token: unpacks the presigned GetCallerIdentity request and has its
 * signature checked, here by computing it anew as STS would, over the headers that EKS sends.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
export async function startTokenWebhook(
  cluster: string,
  region: string,
  identities: readonly KnownIdentity[],
): Promise<TokenWebhook> {
  let refusal: string | undefined;
  const server = createServer((request, response) => {
    void readJson(request).then((review) => {
      const verdict = verify(tokenOf(review), cluster, region, identities);
      refusal = typeof verdict === 'string' ? verdict : undefined;
      const status =
        typeof verdict === 'string'
          ? { authenticated: false, error: verdict }
          : {
              authenticated: true,
              user: { username: verdict.username, groups: verdict.groups },
            };
      const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', status };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
  });
  const url = await listen(server);
  return {
    url: `${url}/`,
    lastRefusal: () => refusal,
    close: () => close(server),
  };
}

function verify(
  token: string,
  cluster: string,
  region: string,
  identities: readonly KnownIdentity[],
): KnownIdentity | string {
  if (!token.startsWith(PREFIX)) return 'the prefix is not k8s-aws-v1.';
  const decoded = Buffer.from(token.slice(PREFIX.length), 'base64url').toString('utf8');
  if (!URL.canParse(decoded)) return 'the token holds no URL';
  const url = new URL(decoded);
  if (url.host !== `sts.${region}.amazonaws.com`) return `the host ${url.host} is not STS`;
  const query = url.searchParams;
  if (query.get('Action') !== 'GetCallerIdentity') return 'another action';
  if (query.get('X-Amz-Expires') !== '60') return 'X-Amz-Expires is not 60';
  if (query.get('X-Amz-SignedHeaders') !== 'host;x-k8s-aws-id') return 'headers are not signed';
  const [accessKeyId, day = ''] = (query.get('X-Amz-Credential') ?? '').split('/');
  const identity = identities.find((each) => each.accessKeyId === accessKeyId);
  if (identity === undefined) return `the key ${accessKeyId} is not known`;
  const ageMs = Date.now() - amzTime(query.get('X-Amz-Date') ?? '');
  if (!(ageMs > -TOKEN_MS && ageMs < TOKEN_MS)) return 'the token has expired';
  const expected = signature(url, cluster, region, day, identity.secretAccessKey);
  return query.get('X-Amz-Signature') === expected ? identity : 'the signature does not match';
}

/** `20260101T000000Z` in milliseconds since the epoch. */
function amzTime(text: string): number {
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text)?.slice(1) ?? [];
  const [year = '', month = '', day = '', hour = '', minute = '', second = ''] = parts;
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

function signature(url: URL, cluster: string, region: string, day: string, secret: string): string {
  const query = [...url.searchParams]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .sort();
  const canonical = [
    'GET',
    '/',
    query.join('&'),
    `host:${url.host}`,
    `x-k8s-aws-id:${cluster}`,
    '',
    'host;x-k8s-aws-id',
    sha256(''),
  ].join('\n');
  const scope = `${day}/${region}/sts/aws4_request`;
  const date = url.searchParams.get('X-Amz-Date') ?? '';
  const toSign = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n');
  const key = [day, region, 'sts', 'aws4_request'].reduce<Buffer>(
    (previous, part) => createHmac('sha256', previous).update(part).digest(),
    Buffer.from(`AWS4${secret}`),
  );
  return createHmac('sha256', key).update(toSign).digest('hex');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

function tokenOf(review: unknown): string {
  const spec = property(review, 'spec');
  const token = property(spec, 'token');
  return typeof token === 'string' ? token : '';
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
