import {
  CreateTagsCommand,
  DescribeInstanceStatusCommand,
  DescribeInstancesCommand,
  DescribeSpotInstanceRequestsCommand,
  type EC2Client,
  type Instance as Ec2Instance,
  type InstanceStatus as Ec2InstanceStatus,
  type Filter,
  TerminateInstancesCommand,
} from '@aws-sdk/client-ec2';
import { type Labels, NODE_CLASS, ON_DEMAND, RESERVED, SPOT } from '../core/model/labels.ts';
import type { NodeClass } from '../core/model/node-class.ts';
import type {
  Compute,
  FleetRequest,
  FleetResult,
  Instance,
  InstanceStatus,
  SpotRequest,
} from '../ports/cloud.ts';
import { PortError } from '../ports/fault.ts';
import { allPages, type Calls } from './calls.ts';
import type { Fleets } from './fleets.ts';
import type { LaunchTemplates } from './launch-templates.ts';
import type { NodeClassValidation } from './node-class-validation.ts';
import { tagsOf } from './tags.ts';

export interface Ec2ComputeParts {
  readonly ec2: EC2Client;
  readonly calls: Calls;
  readonly templates: LaunchTemplates;
  /** The cluster's name: what carries its tags is ours. */
  readonly cluster: string;
  /** Undefined: classes are not checked. */
  readonly validation?: NodeClassValidation;
}

/** Values of one filter. https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Filtering.html */
const FILTER_VALUES_MAX = 200;
/**
 * The most that EC2 takes for these.
 * https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html
 */
const PAGE_SIZE = 1000;
/** Instances in one call of TerminateInstances, as Karpenter has it. */
const TERMINATE_MAX = 500;
const TEMPLATE_IDLE_MS = 3_600_000;

const STATES = ['pending', 'running', 'stopping', 'stopped', 'shutting-down'];
const TEMPLATE_TAG = 'aws:ec2launchtemplate:id';

/** What asks for no page is throttled sooner. */
function paged(token: string | undefined): { MaxResults: number; NextToken: string | undefined } {
  return { MaxResults: PAGE_SIZE, NextToken: token };
}

function chunks<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, at) => items.slice(at * size, (at + 1) * size));
}

/** EC2 as the use cases see it. */
export class Ec2Compute implements Compute {
  private readonly parts: Ec2ComputeParts;
  private fleets: Promise<Fleets> | undefined;

  constructor(parts: Ec2ComputeParts) {
    this.parts = parts;
  }

  async launch(fleet: FleetRequest): Promise<FleetResult> {
    this.fleets ??= this.loadFleets();
    return await (await this.fleets).launch(fleet);
  }

  async list(): Promise<readonly Instance[]> {
    const found = await this.describeWith([
      { Name: 'tag:eks:eks-cluster-name', Values: [this.parts.cluster] },
      { Name: `tag:kubernetes.io/cluster/${this.parts.cluster}`, Values: ['owned'] },
      { Name: 'tag-key', Values: [NODE_CLASS] },
      { Name: 'instance-state-name', Values: STATES },
    ]);
    return found.filter(({ state }) => state !== 'terminated');
  }

  /** By filter: EC2 refuses the whole call where one of the ids themselves is unknown. */
  async describe(ids: readonly string[]): Promise<readonly Instance[]> {
    const found: Instance[] = [];
    for (const chunk of chunks([...new Set(ids)].sort(), FILTER_VALUES_MAX)) {
      found.push(...(await this.describeWith([{ Name: 'instance-id', Values: [...chunk] }])));
    }
    return found;
  }

  async spotRequests(instanceIds: readonly string[]): Promise<readonly SpotRequest[]> {
    const { ec2, calls } = this.parts;
    const found: SpotRequest[] = [];
    for (const chunk of chunks([...new Set(instanceIds)].sort(), FILTER_VALUES_MAX)) {
      const Filters = [{ Name: 'instance-id', Values: [...chunk] }];
      const requests = await allPages(async (token) => {
        const command = new DescribeSpotInstanceRequestsCommand({ Filters, ...paged(token) });
        const page = await calls.run('ec2:DescribeSpotInstanceRequests', () => ec2.send(command));
        return { items: page.SpotInstanceRequests, next: page.NextToken };
      });
      for (const { InstanceId: instanceId, Status } of requests) {
        if (instanceId === undefined || Status?.Code === undefined) continue;
        found.push({ instanceId, statusCode: Status.Code });
      }
    }
    return found;
  }

  async terminate(ids: readonly string[]): Promise<void> {
    for (const chunk of chunks([...new Set(ids)].sort(), TERMINATE_MAX)) {
      await this.terminateChunk(chunk);
    }
  }

  async tag(id: string, tags: Labels): Promise<void> {
    const { ec2, calls } = this.parts;
    const command = new CreateTagsCommand({ Resources: [id], Tags: tagsOf(tags) });
    await calls.run('ec2:CreateTags', () => ec2.send(command));
  }

  async statuses(): Promise<readonly InstanceStatus[]> {
    const impaired = ['instance-status.status', 'system-status.status'];
    const found: InstanceStatus[] = [];
    for (const Name of impaired) {
      found.push(...(await this.statusesWith({ Name, Values: ['impaired'] })));
    }
    found.push(...(await this.statusesWith({ Name: 'event.code', Values: EVENT_CODES })));
    const byKey = new Map(found.map((each) => [`${each.instanceId}/${each.kind}`, each]));
    return [...byKey.values()];
  }

  async removeLaunchTemplates(nodeClass: string, keep: 'used' | 'none'): Promise<void> {
    const { templates, cluster, calls } = this.parts;
    const sinceMs = calls.timing.nowMs() - TEMPLATE_IDLE_MS;
    const all = await templates.ofNodeClass(cluster, nodeClass);
    const old = all.filter(
      (each) => keep === 'none' || (each.CreateTime?.getTime() ?? 0) < sinceMs,
    );
    if (old.length === 0) return;
    const used = keep === 'none' ? new Set<string>() : await this.templatesUsedSince(sinceMs);
    for (const { LaunchTemplateId: id = '', LaunchTemplateName: name = '' } of old) {
      if (!used.has(id)) await templates.remove(name);
    }
  }

  async check(nodeClass: NodeClass): Promise<void> {
    await this.parts.validation?.check(nodeClass);
  }

  /** Loaded with the first launch: most ticks launch nothing, and most functions never do. */
  private async loadFleets(): Promise<Fleets> {
    const { Fleets } = await import('./fleets.ts');
    const { ec2, calls, templates } = this.parts;
    return new Fleets({ ec2, calls, templates, list: () => this.list() });
  }

  /** EC2 tags every instance with the template that it was launched from. */
  private async templatesUsedSince(sinceMs: number): Promise<ReadonlySet<string>> {
    const recent = (await this.list()).filter((each) => each.launchedAtMs >= sinceMs);
    return new Set(recent.flatMap((each) => each.tags[TEMPLATE_TAG] ?? []));
  }

  private async describeWith(filters: Filter[]): Promise<readonly Instance[]> {
    const { ec2, calls } = this.parts;
    const reservations = await allPages(async (token) => {
      const command = new DescribeInstancesCommand({ Filters: filters, ...paged(token) });
      const page = await calls.run('ec2:DescribeInstances', () => ec2.send(command));
      return { items: page.Reservations, next: page.NextToken };
    });
    return reservations.flatMap((each) => (each.Instances ?? []).flatMap(instanceOf));
  }

  private async statusesWith(filter: Filter): Promise<readonly InstanceStatus[]> {
    const { ec2, calls } = this.parts;
    const all = await allPages(async (token) => {
      const command = new DescribeInstanceStatusCommand({ Filters: [filter], ...paged(token) });
      const page = await calls.run('ec2:DescribeInstanceStatus', () => ec2.send(command));
      return { items: page.InstanceStatuses, next: page.NextToken };
    });
    return all.flatMap(statusesOf);
  }

  /** EC2 terminates none of a call where one cannot be: then each goes alone. */
  private async terminateChunk(ids: readonly string[]): Promise<void> {
    const { ec2, calls } = this.parts;
    const command = new TerminateInstancesCommand({ InstanceIds: [...ids] });
    try {
      await calls.run('ec2:TerminateInstances', () => ec2.send(command));
      return;
    } catch (error) {
      if (!(error instanceof PortError) || error.kind === 'throttled') throw error;
      if (ids.length <= 1) {
        if (error.kind === 'not-found') return;
        throw error;
      }
    }
    const failures: unknown[] = [];
    for (const id of ids) {
      await this.terminateChunk([id]).catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }
}

function capacityTypeOf(instance: Ec2Instance): Instance['capacityType'] {
  if (instance.InstanceLifecycle === 'spot') return SPOT;
  return instance.CapacityReservationId === undefined ? ON_DEMAND : RESERVED;
}

/** The message begins with the code mostly. One that starts has `pending` as code and message. */
function stateReasonOf({ State, StateReason }: Ec2Instance): string | undefined {
  const { Code: code = '', Message: message = '' } = StateReason ?? {};
  if (State?.Name === 'pending' || State?.Name === 'running') return undefined;
  if (code === '' || message.startsWith(code)) return message === '' ? undefined : message;
  return message === '' ? code : `${code}: ${message}`;
}

function instanceOf(instance: Ec2Instance): readonly Instance[] {
  const { InstanceId: id, State } = instance;
  const state = State?.Name;
  if (id === undefined || state === undefined) return [];
  const tags = (instance.Tags ?? []).map(({ Key = '', Value = '' }) => [Key, Value] as const);
  return [
    {
      id,
      state,
      instanceType: instance.InstanceType ?? '',
      zone: instance.Placement?.AvailabilityZone ?? '',
      capacityType: capacityTypeOf(instance),
      reservationId: instance.CapacityReservationId,
      imageId: instance.ImageId ?? '',
      launchedAtMs: instance.LaunchTime?.getTime() ?? 0,
      tags: Object.fromEntries(tags),
      stateReason: stateReasonOf(instance),
    },
  ];
}

/** Maintenance that takes the node away for a while or for ever. */
const EVENT_CODES = [
  'instance-reboot',
  'system-reboot',
  'system-maintenance',
  'instance-retirement',
  'instance-stop',
];

/** https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceStatus.html */
function statusesOf(status: Ec2InstanceStatus): readonly InstanceStatus[] {
  const { InstanceId: instanceId } = status;
  if (instanceId === undefined) return [];
  const checks = [
    ['instance_status', status.InstanceStatus],
    ['system_status', status.SystemStatus],
  ] as const;
  const failed = checks.flatMap(([kind, summary]): readonly InstanceStatus[] => {
    if (summary?.Status !== 'impaired') return [];
    const details = summary.Details ?? [];
    const since = details.flatMap((each) => each.ImpairedSince?.getTime() ?? []);
    const names = details.map((each) => each.Name).join(', ');
    const sinceMs = since.length === 0 ? 0 : Math.min(...since);
    return [{ instanceId, kind, sinceMs, description: `impaired: ${names}` }];
  });
  const events = (status.Events ?? []).flatMap((event): readonly InstanceStatus[] => {
    const description = event.Description ?? event.Code ?? '';
    // EC2 keeps events for a week after they are over and says so in their texts.
    if (/^\[(Completed|Canceled)\]/.test(description)) return [];
    const sinceMs = event.NotBefore?.getTime() ?? 0;
    return [{ instanceId, kind: 'event_status', sinceMs, description }];
  });
  return [...failed, ...events.slice(0, 1)];
}
