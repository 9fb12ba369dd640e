import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { close, listen } from '../../loopback.ts';
import { isServiceName, type ServiceName } from './operations.ts';
import { type Fields, type HttpRequest, readCall } from './request.ts';
import { type HttpResponse, WireFault, writeFault, writeOutput } from './response.ts';

/** A call that was made, in order: tests map these to IAM policies. */
export interface RecordedCall {
  readonly service: ServiceName;
  readonly operation: string;
  readonly input: Fields;
  /** The fault's code; undefined: answered. */
  readonly fault: string | undefined;
  readonly userAgent: string;
}

export type Handler = (input: Fields) => Fields;
export type Handlers = Readonly<Record<string, Handler>>;

/** The next `times` calls of the operation fail in this way. */
export interface FaultScript {
  readonly service: ServiceName;
  readonly operation: string;
  readonly times: number;
  /** `disconnect`: before the call is handled; `lost`: its answer never comes. */
  readonly fault: WireFault | 'disconnect' | 'lost';
}

/** AWS on loopback: every protocol read and written by the SDK's own schemas. */
export class WireServer {
  readonly calls: RecordedCall[] = [];
  private readonly handlers: Readonly<Partial<Record<ServiceName, Handlers>>>;
  private readonly server = createServer((request, response) => void this.serve(request, response));
  private scripts: readonly FaultScript[] = [];
  /** How long an operation takes that has no delay of its own. */
  latencyMs: (operation: string) => number = () => 0;
  /** Why a call is refused before anything is done. */
  admit: (service: ServiceName, operation: string, input: Fields) => WireFault | undefined = () =>
    undefined;
  private readonly delaysMs = new Map<string, number>();
  private readonly holds = new Map<string, Promise<void>>();
  private readonly waiting = new Map<string, number>();
  private readonly underWay = new Map<string, number>();
  private readonly mostUnderWay = new Map<string, number>();

  constructor(handlers: Readonly<Partial<Record<ServiceName, Handlers>>>) {
    this.handlers = handlers;
  }

  /** Its address once it listens. */
  async listen(): Promise<string> {
    return await listen(this.server);
  }

  async close(): Promise<void> {
    await close(this.server);
  }

  fail(
    service: ServiceName,
    operation: string,
    fault: FaultScript['fault'],
    times = Number.POSITIVE_INFINITY,
  ): void {
    this.scripts = [...this.scripts, { service, operation, times, fault }];
  }

  heal(): void {
    this.scripts = [];
  }

  /** Calls of the operation take so long from now on: handled when they come, answered then. */
  delay(operation: string, ms: number): void {
    this.delaysMs.set(operation, ms);
  }

  /** Calls of the operation wait, and are not handled, until the function that this returns is called. */
  hold(operation: string): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.holds.set(operation, promise);
    return () => {
      this.holds.delete(operation);
      resolve();
    };
  }

  /** Calls of the operation that `hold` keeps waiting. */
  heldCalls(operation: string): number {
    return this.waiting.get(operation) ?? 0;
  }

  /** Calls of the operation that were under way at the same time, at most. */
  mostAtOnce(operation: string): number {
    return this.mostUnderWay.get(operation) ?? 0;
  }

  callsOf(operation: string): readonly RecordedCall[] {
    return this.calls.filter((each) => each.operation === operation);
  }

  inputsOf(operation: string): readonly RecordedCall['input'][] {
    return this.callsOf(operation).map((each) => each.input);
  }

  private scripted(service: ServiceName, operation: string): FaultScript['fault'] | undefined {
    const found = this.scripts.find(
      (each) => each.service === service && each.operation === operation,
    );
    if (found === undefined) return undefined;
    const rest = this.scripts.filter((each) => each !== found);
    this.scripts = found.times > 1 ? [{ ...found, times: found.times - 1 }, ...rest] : rest;
    return found.fault;
  }

  private async waitWhileHeld(operation: string): Promise<void> {
    const hold = this.holds.get(operation);
    if (hold === undefined) return;
    this.waiting.set(operation, this.heldCalls(operation) + 1);
    await hold;
    this.waiting.set(operation, this.heldCalls(operation) - 1);
  }

  private async takeTime(operation: string): Promise<void> {
    const count = (this.underWay.get(operation) ?? 0) + 1;
    this.underWay.set(operation, count);
    this.mostUnderWay.set(operation, Math.max(this.mostAtOnce(operation), count));
    const ms = this.delaysMs.get(operation) ?? this.latencyMs(operation);
    if (ms > 0) await sleep(ms);
    this.underWay.set(operation, (this.underWay.get(operation) ?? 1) - 1);
  }

  private answer(
    service: ServiceName,
    request: HttpRequest,
    { operation, input }: ReturnType<typeof readCall>,
  ): HttpResponse | 'disconnect' {
    const userAgent = request.headers['user-agent'] ?? '';
    const record = (fault: string | undefined): void => {
      this.calls.push({ service, operation: operation.name, input, fault, userAgent });
    };
    try {
      const scripted = this.scripted(service, operation.name);
      if (scripted === 'disconnect') {
        record('disconnect');
        return 'disconnect';
      }
      if (scripted instanceof WireFault) throw scripted;
      const refusal = this.admit(service, operation.name, input);
      if (refusal !== undefined) throw refusal;
      const handler = this.handlers[service]?.[operation.name];
      if (handler === undefined) throw new WireFault('InvalidAction', `${operation.name}?`);
      const response = writeOutput(service, operation, handler(input));
      record(scripted);
      return scripted === 'lost' ? 'disconnect' : response;
    } catch (error) {
      if (!(error instanceof WireFault)) throw error;
      record(error.code);
      return writeFault(service, error);
    }
  }

  private async serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const request = await readHttp(incoming);
      const service = serviceOf(request);
      const call = readCall(service, request);
      await this.waitWhileHeld(call.operation.name);
      const answer = this.answer(service, request, call);
      await this.takeTime(call.operation.name);
      if (answer === 'disconnect') incoming.socket.destroy();
      else response.writeHead(answer.status, answer.headers).end(answer.body);
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  }
}

/** The service is named in the signature: `Credential=KEY/date/region/service/aws4_request`. */
function serviceOf({ headers }: HttpRequest): ServiceName {
  const name = /Credential=[^/]+\/\d+\/[^/]+\/([^/]+)\//.exec(headers['authorization'] ?? '')?.[1];
  if (name === undefined || !isServiceName(name)) throw new Error(`unknown service "${name}"`);
  return name;
}

async function readHttp(incoming: IncomingMessage): Promise<HttpRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(Buffer.from(chunk));
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).map(([key, value]) => [key, String(value)]),
  );
  const url = new URL(incoming.url ?? '/', 'http://loopback');
  return { method: incoming.method ?? 'GET', url, headers, body: Buffer.concat(chunks) };
}
