import { spawn } from 'node:child_process';
import { parsedJson } from '../core/parsed-json.ts';
import { property, text } from './list.ts';

/** What a kubeconfig says of the plugin of a user. */
export interface ExecPlugin {
  readonly apiVersion?: string;
  readonly command: string;
  readonly args?: readonly string[] | null;
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null;
  /** @default 'IfAvailable' */
  readonly interactiveMode?: string;
  readonly installHint?: string;
}

/** What the plugin answers: a token, or a certificate and its key. */
export interface ExecCredential {
  readonly token: string | undefined;
  readonly certPem: string | undefined;
  readonly keyPem: string | undefined;
}

/** What it has written, and how it ended. */
interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs the plugin as kubectl does: one that asks a person, for a second factor or a log-in, has the
 * terminal, if there is one; any other finds its input at its end, and does not wait for it.
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
 */
export async function execCredential(plugin: ExecPlugin): Promise<ExecCredential> {
  const { command } = plugin;
  if (!command) throw new Error('exec plugin: it names no command');
  const { code, stdout, stderr } = await ended(plugin);
  if (code !== 0) throw new Error(`exec plugin ${command}: ${stderr.trim() || 'it failed'}`);
  const status = property(parsedJson(stdout), 'status');
  if (typeof status !== 'object' || status === null) {
    throw new Error(`exec plugin ${command}: its answer is no ExecCredential`);
  }
  const of = (name: string): string | undefined => text(property(status, name)) || undefined;
  return {
    token: of('token'),
    certPem: of('clientCertificateData'),
    keyPem: of('clientKeyData'),
  };
}

function ended({ command, args, env, interactiveMode, ...rest }: ExecPlugin): Promise<Ended> {
  const { apiVersion, installHint = '' } = rest;
  const interactive = interactiveMode !== 'Never' && process.stdin.isTTY === true;
  const info = { apiVersion, kind: 'ExecCredential', spec: { interactive } };
  const own = (env ?? []).map(({ name, value }) => [name, value] as const);
  return new Promise((resolve, reject) => {
    const child = spawn(command, args ?? [], {
      env: {
        ...process.env,
        ...Object.fromEntries(own),
        KUBERNETES_EXEC_INFO: JSON.stringify(info),
      },
      // What it asks stands on stderr.
      stdio: interactive ? ['inherit', 'pipe', 'inherit'] : ['ignore', 'pipe', 'pipe'],
    });
    const written = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
        written[name] += chunk;
      });
    }
    child.on('error', (error) => {
      const isAbsent = 'code' in error && error.code === 'ENOENT';
      const hint = installHint === '' ? '' : `; ${installHint.trim()}`;
      const why = isAbsent ? `no such command${hint}` : error.message;
      reject(new Error(`exec plugin ${command}: ${why}`));
    });
    child.on('close', (code) => resolve({ code, ...written }));
  });
}
