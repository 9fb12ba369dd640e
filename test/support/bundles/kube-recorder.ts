import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { FUNCTION_NAMES, type FunctionName } from '../../../shared/contract.ts';
import { close, listen } from '../loopback.ts';

/** A request as RBAC sees it. https://kubernetes.io/docs/reference/access-authn-authz/authorization/ */
export interface KubeRequest {
  readonly function: FunctionName;
  readonly verb: string;
  readonly group: string;
  /** With its subresource: `nodeclaims/status`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly status: number;
  /** It was made with all rights, not with those of the function's group. */
  readonly isAdmin: boolean;
}

const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** The API server itself, and a token of an admin. */
export interface Behind {
  readonly url: string;
  readonly caPem: string;
  readonly adminToken: string;
  /** Whether the installer's access entry has the admin's policy. */
  readonly isLent: () => boolean;
}

/**
 * Stands before an API server and notes which function asks for what. What `install` asks is done
 * as the cluster's admin while its access entry makes it that.
 */
export class KubeRecorder {
  readonly requests: KubeRequest[] = [];
  private readonly behind: Behind;
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 64 });
  private readonly server = createServer((incoming, response) => this.pass(incoming, response));

  constructor(behind: Behind) {
    this.behind = behind;
  }

  async listen(): Promise<string> {
    return await listen(this.server);
  }

  async close(): Promise<void> {
    this.agent.destroy();
    await close(this.server);
  }

  private pass(incoming: IncomingMessage, response: ServerResponse): void {
    const { url, caPem, adminToken, isLent } = this.behind;
    const from = functionOf(incoming.headers['user-agent'] ?? '');
    const { hostname, port } = new URL(url);
    const isAdmin = from === 'install' && isLent();
    const authorization = isAdmin ? `Bearer ${adminToken}` : incoming.headers.authorization;
    const outgoing = httpsRequest(
      {
        agent: this.agent,
        ca: caPem,
        hostname,
        port,
        method: incoming.method,
        path: incoming.url,
        headers: { ...incoming.headers, host: `${hostname}:${port}`, authorization },
      },
      (answer) => {
        const status = answer.statusCode ?? 0;
        if (from !== undefined) {
          this.requests.push({ function: from, ...seen(incoming), status, isAdmin });
        }
        response.writeHead(status, answer.headers);
        // The headers of a watch come before its first event, and are waited for.
        response.flushHeaders();
        answer.pipe(response);
        answer.on('error', () => response.destroy());
      },
    );
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  }
}

function functionOf(userAgent: string): FunctionName | undefined {
  const [, name] = /^joiner-([a-z]+)\//.exec(userAgent) ?? [];
  return FUNCTION_NAMES.find((each) => each === name);
}

function seen({
  method = 'GET',
  url = '/',
}: IncomingMessage): Omit<KubeRequest, 'function' | 'status' | 'isAdmin'> {
  const { pathname, searchParams } = new URL(url, 'http://api');
  const parts = pathname.split('/').map(decodeURIComponent);
  const [root, ...rest] = parts.filter((part) => part !== '');
  const group = root === 'apis' ? (rest.shift() ?? '') : '';
  rest.shift();
  const namespace = rest[0] === 'namespaces' && rest.length > 2 ? (rest[1] ?? '') : '';
  const [plural = '', name = '', subresource] = namespace === '' ? rest : rest.slice(2);
  const resource = subresource === undefined ? plural : `${plural}/${subresource}`;
  const reading = searchParams.has('watch') ? 'watch' : name === '' ? 'list' : 'get';
  // A list of one object by its name is allowed by that name.
  const selector = searchParams.get('fieldSelector') ?? '';
  const [, selected = ''] = /^metadata\.name=([^,]+)$/.exec(selector) ?? [];
  return { verb: VERBS[method] ?? reading, group, resource, namespace, name: name || selected };
}
