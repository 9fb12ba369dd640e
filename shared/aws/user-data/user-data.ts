import { parseAllDocuments, stringify } from 'yaml';
import {
  BOTTLEROCKET_WHOLE,
  bootstrapScript,
  bottlerocketSettings,
  type NodeBootstrap,
  nodeConfig,
  windowsScript,
} from '../../core/launch/node-bootstrap.ts';
import type { ImageFamily } from '../../core/model/node-class.ts';
import { PortError } from '../../ports/fault.ts';
import {
  contentType,
  isMultipart,
  type Part,
  part,
  readMultipart,
  writeMultipart,
} from './mime.ts';
import { mergeToml } from './toml.ts';

const SHELL_SCRIPT = 'text/x-shellscript; charset="us-ascii"';
const NODE_CONFIG = 'application/node.eks.aws';

function invalid(message: string, cause?: unknown): PortError {
  return new PortError('invalid', 'InvalidUserData', `spec.userData: ${message}`, { cause });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
}

/** A multipart message's parts; any other text is one part of the given type. */
function userParts(text: string | undefined, typeOf: (text: string) => string): readonly Part[] {
  if (text === undefined) return [];
  if (!isMultipart(text)) return [part(typeOf(text), text)];
  const reading = readMultipart(text);
  if (!reading.ok) throw invalid(`the multipart message ${reading.message}`);
  return reading.parts;
}

/** The user's parts come first, so that what they set up is there when the node joins. */
function al2(user: string | undefined, node: NodeBootstrap): string {
  const own = part(SHELL_SCRIPT, bootstrapScript(node));
  return writeMultipart([...userParts(user, () => SHELL_SCRIPT), own]);
}

const NODE_CONFIG_GROUP = 'node.eks.aws/';

function checkNodeConfig(text: string): void {
  const documents = parseAllDocuments(text);
  const [fault] = documents.flatMap((document) => document.errors);
  if (fault !== undefined) throw invalid(`the NodeConfig is not YAML: ${messageOf(fault)}`, fault);
  // A `---` at the end begins a document with nothing in it.
  if (documents.findLastIndex((each) => each.toJS() !== null) > 0) {
    throw invalid('holds several YAML documents; make each a part of a multipart message');
  }
  const document: unknown = documents[0]?.toJS();
  const isNodeConfig =
    typeof document === 'object' &&
    document !== null &&
    'apiVersion' in document &&
    String(document.apiVersion).startsWith(NODE_CONFIG_GROUP);
  if (!isNodeConfig) throw invalid(`the NodeConfig has no apiVersion ${NODE_CONFIG_GROUP}…`);
}

/** cloud-init runs a part as what its type says; a text of unknown kind is a script, as always. */
function al2023Type(text: string): string {
  const start = text.trimStart();
  if (start.startsWith('#!')) return SHELL_SCRIPT;
  return /^["']?apiVersion["']?:\s*["']?node\.eks\.aws\/|^\{[\s\S]*node\.eks\.aws\//m.test(start)
    ? NODE_CONFIG
    : SHELL_SCRIPT;
}

/** Texts in quotes and on one line: nodeadm reads YAML 1.1, where a bare `yes` is true. */
const YAML_LAYOUT = {
  lineWidth: 0,
  defaultKeyType: 'PLAIN',
  defaultStringType: 'QUOTE_DOUBLE',
} as const;

/** nodeadm merges NodeConfigs in their order: the last one, ours, decides. */
function al2023(user: string | undefined, node: NodeBootstrap): string {
  const parts = userParts(user, al2023Type);
  for (const each of parts) {
    const isEncoded = each.headers.some((line) => /^content-transfer-encoding:/i.test(line));
    if (contentType(each) === NODE_CONFIG && !isEncoded) checkNodeConfig(each.content);
  }
  const own = part(NODE_CONFIG, stringify(nodeConfig(node), YAML_LAYOUT));
  return writeMultipart([...parts, own]);
}

function bottlerocket(user: string | undefined, node: NodeBootstrap): string {
  try {
    return mergeToml(user, bottlerocketSettings(node), BOTTLEROCKET_WHOLE);
  } catch (error) {
    throw invalid(`is not TOML: ${messageOf(error)}`, error);
  }
}

/** https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/user-data.html#user-data-powershell-scripts */
function windows(user: string | undefined, node: NodeBootstrap): string {
  if (node.cluster.ipFamily === 'ipv6') {
    // https://docs.aws.amazon.com/eks/latest/userguide/windows-support.html
    const message = 'Windows nodes need an IPv4 cluster, this one has IPv6';
    throw new PortError('invalid', 'UnsupportedIpFamily', message);
  }
  const [, inner] = /^\s*<powershell>([\s\S]*)<\/powershell>\s*$/.exec(user ?? '') ?? [];
  const first = (inner ?? user ?? '').trim();
  if (/<\/?(powershell|script|persist)>/i.test(first)) {
    throw invalid('must be PowerShell, at most within one <powershell> tag');
  }
  const lines = first === '' ? [] : [first];
  return ['<powershell>', ...lines, windowsScript(node), '</powershell>', ''].join('\n');
}

/** EC2 takes this many bytes before they are encoded. https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/user-data.html */
export const USER_DATA_BYTES_MAX = 16_384;

function merged(family: ImageFamily, user: string | undefined, node: NodeBootstrap): string {
  switch (family) {
    case 'AL2':
      return al2(user, node);
    case 'AL2023':
      return al2023(user, node);
    case 'Bottlerocket':
      return bottlerocket(user, node);
    case 'Windows2019':
    case 'Windows2022':
    case 'Windows2025':
      return windows(user, node);
    case 'Custom':
      return user ?? '';
  }
}

/**
 * What the instance is started with, before base64: the user's data and what makes it join.
 * Throws a fault where the user's data cannot be read or all is too long.
 * https://karpenter.sh/docs/concepts/nodeclasses/#specuserdata
 */
export function userData(
  family: ImageFamily,
  user: string | undefined,
  node: NodeBootstrap,
): string {
  const text = merged(family, user === '' ? undefined : user, node);
  const bytes = Buffer.byteLength(text);
  if (bytes <= USER_DATA_BYTES_MAX) return text;
  throw new PortError(
    'invalid',
    'UserDataSizeLimitExceeded',
    `spec.userData: merged it has ${bytes} bytes, EC2 takes ${USER_DATA_BYTES_MAX}`,
  );
}
