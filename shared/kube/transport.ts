import http from 'node:http';
import https from 'node:https';
import { TLSSocket } from 'node:tls';

/** One HTTP exchange with the API server; the path is below the endpoint. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With the query string. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Until the headers of the answer. */
  readonly timeoutMs: number;
  /** Longest silence in the body of the answer; 0: none is too long. */
  readonly silenceMsMax: number;
  /** Ends the exchange, also while no answer has come; the promise then rejects. */
  readonly signal?: AbortSignal | undefined;
}

export interface HttpResponse {
  readonly status: number;
  header(name: string): string | undefined;
  /** Leaving the loop over it ends the exchange. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Ends the exchange from outside the loop, which then stops or throws. */
  cancel(): void;
}

/** The wire, so that tests can stand in for it. */
export interface Transport {
  send(request: HttpRequest): Promise<HttpResponse>;
  close(): Promise<void>;
}

/** Where the API server is. DescribeCluster or a kubeconfig says so. */
export interface Endpoint {
  /** e.g. `https://ABC.gr7.eu-west-1.eks.amazonaws.com` */
  readonly url: string;
  /** The authorities to trust, PEM. @default those of the runtime */
  readonly caPem?: string;
  /** A client certificate and its key, PEM, for users who have one instead of a token. */
  readonly clientCertificate?: { readonly certPem: string; readonly keyPem: string };
  /** The name that the server's certificate is checked against. @default the URL's host */
  readonly serverName?: string;
  /** Only for kubeconfigs that say so. @default false */
  readonly skipVerification?: boolean;
  /** Sent with each request. @default none */
  readonly headers?: Readonly<Record<string, string>>;
  /** Connects through the kubeconfig's `proxy-url`; it has what is above of certificates. */
  readonly proxyAgent?: http.Agent;
}

/** Eight watches and a dozen lists at once; more requests wait for a connection. */
const CONNECTIONS_MAX = 24;
const CONNECT_MS_MAX = 5_000;
/** EKS's load balancer drops connections that idle for 350 s; a frozen sandbox does not notice. */
const IDLE_MS_MAX = 60_000;

export function httpTransport(endpoint: Endpoint): Transport {
  const url = new URL(endpoint.url);
  const prefix = url.pathname.replace(/\/$/, '');
  const { proxyAgent } = endpoint;
  const agent = proxyAgent ?? agentFor(url, endpoint);
  // A proxy that does not answer: there is no socket yet whose connection could be timed.
  const waiting = proxyAgent === undefined ? {} : { timeout: CONNECT_MS_MAX };
  const dial = url.protocol === 'http:' ? http.request : https.request;
  let lastMs = Date.now();
  return {
    send: async (asked) => {
      // Timers stand still while a sandbox is frozen: the clock tells what they should have done.
      if (Date.now() - lastMs > IDLE_MS_MAX) dropIdle(agent);
      lastMs = Date.now();
      const { hostname, port } = url;
      const { method, signal } = asked;
      const path = prefix + asked.path;
      const headers = { ...endpoint.headers, ...withLength(asked) };
      const host = { hostname: unbracketed(hostname), port };
      const target = { agent, ...waiting, ...host, path, method, headers };
      const request = dial(signal === undefined ? target : { ...target, signal });
      const body = await answered(request, asked);
      lastMs = Date.now();
      return {
        status: body.statusCode ?? 0,
        header: (name) => {
          const value = body.headers[name];
          return typeof value === 'string' ? value : value?.[0];
        },
        body,
        cancel: () => void body.destroy(),
      };
    },
    close: async () => agent.destroy(),
  };
}

function agentFor({ protocol }: URL, endpoint: Endpoint): http.Agent {
  const certificate = endpoint.clientCertificate;
  const options = { keepAlive: true, maxSockets: CONNECTIONS_MAX, timeout: IDLE_MS_MAX };
  if (protocol === 'http:') return new http.Agent(options);
  return new https.Agent({
    ...options,
    rejectUnauthorized: endpoint.skipVerification !== true,
    ...(endpoint.caPem === undefined ? {} : { ca: endpoint.caPem }),
    ...(endpoint.serverName === undefined ? {} : { servername: endpoint.serverName }),
    ...(certificate === undefined ? {} : { cert: certificate.certPem, key: certificate.keyPem }),
  });
}

/** Node itself says it of some methods only, and a DELETE has a body here. */
function withLength({ headers, body }: HttpRequest): HttpRequest['headers'] {
  if (body === undefined) return headers;
  return { ...headers, 'content-length': String(Buffer.byteLength(body)) };
}

/** URLs put IPv6 addresses into brackets, sockets do not. */
function unbracketed(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

function dropIdle(agent: http.Agent): void {
  for (const sockets of Object.values(agent.freeSockets)) {
    for (const socket of sockets ?? []) socket.destroy();
  }
}

/** Sends the body and waits for the headers of the answer: first for a connection, then for them. */
function answered(
  request: http.ClientRequest,
  { body, timeoutMs, silenceMsMax }: HttpRequest,
): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const within = (ms: number, what: string): void => {
      clearTimeout(timer);
      timer = setTimeout(() => request.destroy(new Error(`${what} within ${ms / 1000} s`)), ms);
    };
    request.once('socket', (socket) => {
      const awaitAnswer = (): void => within(timeoutMs, 'no answer');
      if (!socket.connecting) return awaitAnswer();
      within(CONNECT_MS_MAX, 'no connection');
      socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', awaitAnswer);
    });
    request.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    request.once('response', (answer) => {
      clearTimeout(timer);
      // Whoever reads the body learns of it; an event that nobody hears would end the process.
      answer.on('error', () => undefined);
      answer.setTimeout(silenceMsMax, () => {
        if (silenceMsMax === 0) return;
        answer.destroy(new Error(`the answer was silent for ${silenceMsMax / 1000} s`));
      });
      resolve(answer);
    });
    request.end(body);
  });
}
