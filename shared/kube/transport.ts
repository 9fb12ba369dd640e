import { Pool } from 'undici';

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
}

/** Eight watches and a dozen lists at once; more requests wait for a connection. */
const CONNECTIONS_MAX = 24;
const CONNECT_MS_MAX = 5_000;
/** EKS's load balancer drops connections that idle for 350 s; a frozen sandbox does not notice. */
const IDLE_MS_MAX = 60_000;

export function httpTransport(endpoint: Endpoint): Transport {
  const url = new URL(endpoint.url);
  const prefix = url.pathname.replace(/\/$/, '');
  const certificate = endpoint.clientCertificate;
  const pool = new Pool(url.origin, {
    connections: CONNECTIONS_MAX,
    pipelining: 1,
    keepAliveTimeout: IDLE_MS_MAX,
    connect: {
      timeout: CONNECT_MS_MAX,
      rejectUnauthorized: endpoint.skipVerification !== true,
      ...(endpoint.caPem === undefined ? {} : { ca: endpoint.caPem }),
      ...(endpoint.serverName === undefined ? {} : { servername: endpoint.serverName }),
      ...(certificate === undefined ? {} : { cert: certificate.certPem, key: certificate.keyPem }),
    },
  });
  return {
    send: async (request) => {
      const answer = await pool.request({
        method: request.method,
        path: prefix + request.path,
        headers: request.headers,
        body: request.body ?? null,
        headersTimeout: request.timeoutMs,
        bodyTimeout: request.silenceMsMax,
      });
      return {
        status: answer.statusCode,
        header: (name) => {
          const value = answer.headers[name];
          return typeof value === 'string' ? value : value?.[0];
        },
        body: answer.body,
        cancel: () => {
          // The reader learns of it by its loop; the stream's own event must not be unhandled.
          answer.body.on('error', () => undefined);
          answer.body.destroy();
        },
      };
    },
    close: () => pool.destroy(),
  };
}
