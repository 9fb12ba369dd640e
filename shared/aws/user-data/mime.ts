/** One part of a multipart message, its content as it stands: encoded ones stay encoded. */
export interface Part {
  /** Lines such as `Content-Type: text/x-shellscript`, in their order. */
  readonly headers: readonly string[];
  readonly content: string;
}

export type MultipartReading =
  | { readonly ok: true; readonly parts: readonly Part[] }
  /** What is wrong with the message. */
  | { readonly ok: false; readonly message: string };

/** Ours unless a part holds it too; Karpenter's, so that instances look the same. */
const BOUNDARY = '//';

export function part(contentType: string, content: string): Part {
  return { headers: [`Content-Type: ${contentType}`], content };
}

/** Lower case and without parameters, e.g. `text/x-shellscript`. */
export function contentType({ headers }: Part): string {
  const line = headers.find((each) => /^content-type:/i.test(each)) ?? 'Content-Type: text/plain';
  return (line.slice(line.indexOf(':') + 1).split(';')[0] ?? '').trim().toLowerCase();
}

/** A boundary that no part holds: ours with as many more slashes as it takes. */
function boundaryFor(parts: readonly Part[]): string {
  let boundary = BOUNDARY;
  while (parts.some(({ content }) => `\n${content}`.includes(`\n--${boundary}`))) boundary += '/';
  return boundary;
}

/**
 * Multipart user data as cloud-init and nodeadm read it (RFC 2046 with plain line feeds).
 * https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html#launch-template-user-data
 */
export function writeMultipart(parts: readonly Part[]): string {
  const boundary = boundaryFor(parts);
  const head = `MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="${boundary}"\n\n`;
  const bodies = parts.map(
    ({ headers, content }) =>
      `--${boundary}\n${headers.join('\n')}\n\n${content.replace(/\n*$/, '\n')}\n`,
  );
  return `${head}${bodies.join('')}--${boundary}--\n`;
}

export function isMultipart(text: string): boolean {
  return /^(MIME-Version|Content-Type):/i.test(text.trimStart());
}

interface Message {
  readonly headers: readonly string[];
  readonly body: string;
}

/** Headers up to the first empty line; folded ones are joined (RFC 5322, 2.2.3). */
function readMessage(text: string): Message {
  const lines = text.split('\n');
  const end = lines.findIndex((line) => line.trim() === '');
  const head = end === -1 ? lines : lines.slice(0, end);
  const headers = head
    .join('\n')
    .replaceAll(/\n[ \t]+/g, ' ')
    .split('\n');
  const body = end === -1 ? '' : lines.slice(end + 1).join('\n');
  return { headers: headers.filter((line) => line !== ''), body };
}

function boundaryOf(headers: readonly string[]): string | undefined {
  const type = headers.find((line) => /^content-type:\s*multipart\//i.test(line)) ?? '';
  const [, quoted, bare] = /boundary=(?:"([^"]+)"|([^\s;"]+))/i.exec(type) ?? [];
  return quoted ?? bare;
}

/** The parts in their order; what stands before the first and after the last is not kept. */
export function readMultipart(text: string): MultipartReading {
  const { headers, body } = readMessage(text.replaceAll('\r\n', '\n').trimStart());
  const boundary = boundaryOf(headers);
  if (boundary === undefined) {
    return { ok: false, message: 'has no Content-Type of multipart with a boundary' };
  }
  const parts: Part[] = [];
  let current: string[] | undefined;
  for (const line of body.split('\n')) {
    const mark = line.trimEnd();
    if (mark !== `--${boundary}` && mark !== `--${boundary}--`) {
      current?.push(line);
      continue;
    }
    if (current !== undefined) {
      const { headers: own, body: content } = readMessage(current.join('\n'));
      parts.push({ headers: own.length > 0 ? own : part('text/plain', '').headers, content });
    }
    if (mark.length > boundary.length + 2) return { ok: true, parts };
    current = [];
  }
  // Where nothing follows it, a delimiter ends the message, too: Karpenter and cloud-init take it so.
  const isOver = current?.every((line) => line.trim() === '') === true;
  if (isOver && parts.length > 0) return { ok: true, parts };
  return { ok: false, message: `does not end with the line --${boundary}--` };
}
