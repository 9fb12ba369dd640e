import type { Cluster } from '@aws-sdk/client-eks';
import type { PutEventsRequestEntry } from '@aws-sdk/client-eventbridge';
import { currencyOf } from '../../../shared/core/model/currency.ts';
import { Account } from './model/account.ts';
import { descriptionHandlers } from './model/descriptions.ts';
import { fleetHandlers } from './model/fleets.ts';
import { ProfileModel } from './model/iam.ts';
import { instanceHandlers } from './model/instances.ts';
import { ObjectModel } from './model/objects.ts';
import { operatorHandlers } from './model/operators.ts';
import { type ModelMessage, QueueModel } from './model/queues.ts';
import {
  clusterHandlers,
  eventHandlers,
  type OnDemandPrice,
  parameterHandlers,
  priceHandlers,
} from './model/services.ts';
import { templateHandlers } from './model/templates.ts';
import { type ManagedResource, zonalShiftHandlers } from './model/zonal-shifts.ts';
import { WireServer } from './wire/server.ts';

export const BUCKET = 'joiner-demo';
export const CLUSTER = 'demo';

/** `use1` of `us-east-1`. */
function zoneIdPrefix(region: string): string {
  const [area = '', side = '', number = ''] = region.split('-');
  return `${area}${side[0] ?? ''}${number}`;
}

/** A whole AWS account on loopback, with a small network and a cluster named `demo`. */
export class WireCloud {
  readonly account: Account;
  readonly profiles = new ProfileModel();
  readonly bucket = new ObjectModel(BUCKET);
  /** Of the one queue there is, by whatever name. */
  readonly messages: ModelMessage[] = [];
  private readonly queues = new QueueModel(() => this.messages);
  readonly events: PutEventsRequestEntry[] = [];
  readonly onDemandPrices: OnDemandPrice[] = [];
  cluster: Cluster | undefined = {
    name: CLUSTER,
    version: '1.33',
    endpoint: 'https://ABCDEF.gr7.us-east-1.eks.amazonaws.com',
    certificateAuthority: { data: 'Q0E=' },
    kubernetesNetworkConfig: { serviceIpv4Cidr: '10.100.0.0/16', ipFamily: 'ipv4' },
    resourcesVpcConfig: { clusterSecurityGroupId: 'sg-0000000000000000c' },
    status: 'ACTIVE',
  };
  /** Access policies that the installer's access entry has. */
  readonly accessPolicies = new Set<string>();
  /** Undefined: the cluster is not registered for zonal shift. */
  managedResource: ManagedResource | undefined;
  readonly server: WireServer;
  private address = '';

  constructor(region = 'us-east-1') {
    const account = new Account(region);
    this.account = account;
    account.subnets = ['a', 'b', 'c'].map((letter, at) => ({
      SubnetId: `subnet-0000000000000000${letter}`,
      AvailabilityZone: `${region}${letter}`,
      AvailabilityZoneId: `${zoneIdPrefix(region)}-az${at + 1}`,
      AvailableIpAddressCount: 8187,
      Tags: [{ Key: 'karpenter.sh/discovery', Value: CLUSTER }],
    }));
    account.securityGroups = [
      {
        GroupId: 'sg-0000000000000000a',
        GroupName: `${CLUSTER}-nodes`,
        Tags: [{ Key: 'karpenter.sh/discovery', Value: CLUSTER }],
      },
    ];
    this.server = new WireServer({
      ec2: {
        ...descriptionHandlers(account),
        ...fleetHandlers(account),
        ...instanceHandlers(account),
        ...operatorHandlers(account),
        ...templateHandlers(account),
      },
      ssm: parameterHandlers(account),
      eks: clusterHandlers(() => this.cluster, this.accessPolicies),
      'arc-zonal-shift': zonalShiftHandlers(() => this.managedResource),
      iam: this.profiles.handlers(),
      s3: this.bucket.handlers(),
      sqs: this.queues.handlers(),
      events: eventHandlers(this.events),
      pricing: priceHandlers(this.onDemandPrices, currencyOf(region)),
    });
  }

  /** Puts a message into the queue. */
  send(body: string): void {
    this.queues.send(this.messages, body);
  }

  /** Where it listens once {@link start} is done. */
  get endpoint(): string {
    return this.address;
  }

  async start(): Promise<void> {
    this.address = await this.server.listen();
  }

  async stop(): Promise<void> {
    await this.server.close();
  }
}
