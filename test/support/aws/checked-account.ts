import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type * as ec2 from '@aws-sdk/client-ec2';
import type * as eks from '@aws-sdk/client-eks';
import type * as events from '@aws-sdk/client-eventbridge';
import type * as iam from '@aws-sdk/client-iam';
import { functionName } from '../../../shared/contract.ts';
import { close, listen } from '../loopback.ts';
import { Account } from './model/account.ts';
import { descriptionHandlers } from './model/descriptions.ts';
import { handle, page } from './model/handle.ts';
import { ProfileModel } from './model/iam.ts';
import { ObjectModel } from './model/objects.ts';
import { type ModelMessage, QueueModel } from './model/queues.ts';
import { clusterHandlers, eventHandlers } from './model/services.ts';
import { WireFault } from './wire/response.ts';
import { WireServer } from './wire/server.ts';

/** A function as Lambda describes it. */
export interface ModelFunction {
  readonly State: string;
  readonly Role?: string;
  readonly Environment: { readonly Variables: Readonly<Record<string, string>> };
  readonly VpcConfig?: { readonly SubnetIds: readonly string[] };
}

/**
 * An account as `joiner doctor` asks for it: the wire server for what has a client of the SDK, and
 * plain answers of STS, Lambda and Service Quotas before it, told apart by the signature.
 */
export class CheckedAccount {
  readonly account = new Account();
  readonly profiles = new ProfileModel();
  readonly bucket = new ObjectModel('joiner-demo');
  cluster: eks.Cluster | undefined;
  accessEntries: {
    readonly principalArn: string;
    readonly type: string;
    readonly kubernetesGroups?: string[];
  }[] = [];
  /** By principal. */
  readonly accessPolicies = new Map<string, readonly string[]>();
  endpoints: ec2.VpcEndpoint[] = [];
  routeTables: ec2.RouteTable[] = [];
  roles = new Set(['AWSServiceRoleForEC2Spot']);
  rules = 20;
  /** Names of rules by the ARN of their target. */
  readonly rulesByTarget = new Map<string, readonly string[]>();
  /** Of roles that are not at `/`. */
  readonly rolePaths = new Map<string, string>();
  /** ARNs of roles that may be passed to instances, by the ARN of who may. */
  readonly passable = new Map<string, readonly string[]>();
  readonly functions = new Map<string, ModelFunction>();
  concurrency = { ConcurrentExecutions: 1000, UnreservedConcurrentExecutions: 1000 };
  /** By code: what was granted to the account; others have AWS's default. */
  readonly quotas = new Map<string, number>();
  readonly defaultQuotas = new Map([
    ['L-1216C47A', 1152],
    ['L-34B43A08', 640],
    ['L-9B653E91', 10_000],
    ['L-244521F2', 300],
  ]);
  /** Services that refuse the caller. */
  readonly denied = new Set<string>();
  /** Calls that were answered without the SDK's schemas, as IAM names them. */
  readonly plainCalls: string[] = [];
  readonly wire: WireServer;
  private wireUrl = '';
  private readonly front = createServer((incoming, response) => this.serve(incoming, response));

  /** What was sent to buses. */
  readonly events: events.PutEventsRequestEntry[] = [];

  /** By name. */
  readonly queues = new Map<string, ModelMessage[]>();
  readonly sqs = new QueueModel((name) => this.queues.get(name));

  constructor() {
    const { account } = this;
    this.wire = new WireServer({
      ec2: {
        ...descriptionHandlers(account),
        DescribeVpcEndpoints: handle<object, ec2.DescribeVpcEndpointsCommandOutput>(() => ({
          VpcEndpoints: this.endpoints,
        })),
        DescribeRouteTables: handle<object, ec2.DescribeRouteTablesCommandOutput>(() => ({
          RouteTables: this.routeTables,
        })),
      },
      eks: { ...clusterHandlers(() => this.cluster, new Set()), ...this.entryHandlers() },
      iam: { ...this.profiles.handlers(), ...this.roleHandlers() },
      s3: this.bucket.handlers(),
      sqs: this.sqs.handlers(),
      events: {
        ...eventHandlers(this.events),
        ListRules: handle<events.ListRulesRequest, events.ListRulesCommandOutput>((asked) => {
          const all = Array.from({ length: this.rules }, (_, at) => ({ Name: `rule-${at}` }));
          const { items, next } = page(all, asked.NextToken, 100);
          return { Rules: items, NextToken: next };
        }),
        ListRuleNamesByTarget: handle<
          events.ListRuleNamesByTargetRequest,
          events.ListRuleNamesByTargetCommandOutput
        >(({ TargetArn = '', NextToken }) => {
          const { items, next } = page(this.rulesByTarget.get(TargetArn) ?? [], NextToken, 1);
          return { RuleNames: items, NextToken: next };
        }),
      },
    });
  }

  async start(): Promise<string> {
    this.wireUrl = await this.wire.listen();
    return await listen(this.front);
  }

  async stop(): Promise<void> {
    await close(this.front);
    await this.wire.close();
  }

  deploy(cluster: string, names: readonly string[], change: Partial<ModelFunction> = {}): void {
    for (const name of names) {
      const Variables = { JOINER_VERSION: '0.1.0', JOINER_BUCKET: 'joiner-demo' };
      const known = functionName(cluster, name as 'watch');
      const Role = `arn:aws:iam::111122223333:role/${known}`;
      this.functions.set(known, { State: 'Active', Role, Environment: { Variables }, ...change });
      const entry = { principalArn: Role, type: 'STANDARD', kubernetesGroups: [`joiner:${name}`] };
      this.accessEntries = [...this.accessEntries, entry];
    }
  }

  private entryHandlers() {
    return {
      ListAccessEntries: handle<eks.ListAccessEntriesRequest, eks.ListAccessEntriesCommandOutput>(
        (asked) => {
          const arns = this.accessEntries.map(({ principalArn }) => principalArn);
          const { items, next } = page(arns, asked.nextToken, 2);
          return { accessEntries: items, nextToken: next };
        },
      ),
      DescribeAccessEntry: handle<
        eks.DescribeAccessEntryRequest,
        eks.DescribeAccessEntryCommandOutput
      >(({ principalArn }) => {
        const accessEntry = this.accessEntries.find((each) => each.principalArn === principalArn);
        if (accessEntry === undefined) {
          throw new WireFault('ResourceNotFoundException', 'no such access entry', 404);
        }
        return { accessEntry };
      }),
      ListAssociatedAccessPolicies: handle<
        eks.ListAssociatedAccessPoliciesRequest,
        eks.ListAssociatedAccessPoliciesCommandOutput
      >(({ principalArn = '' }) => ({
        associatedAccessPolicies: (this.accessPolicies.get(principalArn) ?? []).map(
          (policyArn) => ({ policyArn }),
        ),
      })),
    };
  }

  private roleHandlers() {
    return {
      GetRole: handle<iam.GetRoleRequest, iam.GetRoleCommandOutput>(({ RoleName = '' }) => {
        if (!/^[\w+=,.@-]+$/.test(RoleName)) throw new WireFault('ValidationError', RoleName, 400);
        if (!this.roles.has(RoleName)) throw new WireFault('NoSuchEntity', 'no such role', 404);
        const Path = this.rolePaths.get(RoleName) ?? '/';
        const Arn = `arn:aws:iam::111122223333:role${Path}${RoleName}`;
        const Role = { RoleName, Arn, Path, RoleId: 'AROA', CreateDate: new Date(0) };
        return { Role };
      }),
      SimulatePrincipalPolicy: handle<
        iam.SimulatePrincipalPolicyRequest,
        iam.SimulatePrincipalPolicyCommandOutput
      >(({ PolicySourceArn = '', ActionNames = [], ResourceArns = [] }) => ({
        EvaluationResults: ResourceArns.map((arn) => ({
          EvalActionName: ActionNames[0],
          EvalDecision: this.passable.get(PolicySourceArn)?.includes(arn)
            ? 'allowed'
            : 'implicitDeny',
        })),
      })),
    };
  }

  private serve(incoming: IncomingMessage, response: ServerResponse): void {
    const { authorization = '' } = incoming.headers;
    const service = /Credential=[^/]+\/\d+\/[^/]+\/([^/]+)\//.exec(authorization)?.[1] ?? '';
    // Whether anybody answers at all is asked without a signature.
    if (service === '') return void response.writeHead(403).end();
    if (this.denied.has(service)) {
      const { status, headers, body } = denied(service);
      return void response.writeHead(status, headers).end(body);
    }
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const body = Buffer.concat(chunks);
      const answer = this.plain(service, incoming, body.toString('utf8'));
      if (answer !== undefined) {
        response.writeHead(answer.status, answer.headers).end(answer.body);
      } else this.forward(incoming, body, response);
    });
  }

  private forward(incoming: IncomingMessage, body: Buffer, response: ServerResponse): void {
    const { method, headers } = incoming;
    const url = new URL(incoming.url ?? '/', this.wireUrl);
    const onward = request(url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    // Whoever asks sees that the connection ends, as the wire has ended it.
    onward.on('error', () => incoming.socket.destroy());
    onward.end(body);
  }

  private plain(
    service: string,
    { url = '', headers }: IncomingMessage,
    body: string,
  ): PlainAnswer | undefined {
    if (service === 'sts') return stsAnswer();
    if (service === 'servicequotas') {
      const { QuotaCode = '' } = JSON.parse(body) as { readonly QuotaCode?: string };
      const action = String(headers['x-amz-target']).split('.').at(-1) ?? '';
      this.plainCalls.push(`servicequotas:${action}`);
      const isDefault = action === 'GetAWSDefaultServiceQuota';
      const value = (isDefault ? this.defaultQuotas : this.quotas).get(QuotaCode);
      return value === undefined
        ? refused(400, 'NoSuchResourceException')
        : answered({ Quota: { QuotaCode, Value: value } });
    }
    if (service !== 'lambda') return undefined;
    const isSettings = url.endsWith('/account-settings');
    this.plainCalls.push(
      `lambda:${isSettings ? 'GetAccountSettings' : 'GetFunctionConfiguration'}`,
    );
    if (isSettings) return answered({ AccountLimit: this.concurrency });
    const name = /functions\/([^/]+)\/configuration$/.exec(url)?.[1] ?? '';
    const found = this.functions.get(decodeURIComponent(name));
    return found === undefined ? refused(404, 'ResourceNotFoundException') : answered(found);
  }
}

interface PlainAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function answered(value: object): PlainAnswer {
  return { status: 200, headers: {}, body: JSON.stringify(value) };
}

function refused(status: number, code: string): PlainAnswer {
  return { status, headers: { 'x-amzn-errortype': code }, body: '{"message":"there is none"}' };
}

function denied(service: string): PlainAnswer {
  if (service !== 'iam') {
    const headers = { 'x-amzn-errortype': 'AccessDeniedException:' };
    return { status: 403, headers, body: '{"message":"not for you"}' };
  }
  const error = '<Error><Code>AccessDenied</Code><Message>not for you</Message></Error>';
  const body = `<ErrorResponse>${error}</ErrorResponse>`;
  return { status: 403, headers: { 'content-type': 'text/xml' }, body };
}

function stsAnswer(): PlainAnswer {
  const result =
    '<Arn>arn:aws:iam::111122223333:user/engineer</Arn><Account>111122223333</Account>';
  const body = `<GetCallerIdentityResponse><GetCallerIdentityResult>${result}</GetCallerIdentityResult></GetCallerIdentityResponse>`;
  return { status: 200, headers: { 'content-type': 'text/xml' }, body };
}
