import { CfnResource, CustomResource, Duration, RemovalPolicy } from 'aws-cdk-lib';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { INSTALL_STEPS, type InstallStep } from '../../shared/contract.ts';

export interface InstallerProps {
  readonly cluster: string;
  readonly handler: lambda.Function;
  readonly endpoint: 'public' | 'private';
  /** ARNs of all roles that nodes may have. */
  readonly nodeRoles: readonly string[];
  /** The stack and its roles may go while nodes are there. */
  readonly leaveNodes: boolean;
  /** The stack never acts: nodes are Karpenter's, and one function alone gets rights. */
  readonly isShadow: boolean;
  /** What the installer applies, and which version; a new one has everything applied again. */
  readonly fingerprint: string;
  /** The access policy that the installer has until all is applied; undefined: none. */
  readonly lentPolicyArn: string | undefined;
  /** Whether it applies the CRDs, or only checks them. */
  readonly installCrds: boolean;
}

/** Longer than the function's own timeout: a function that died is reported within minutes. */
const SERVICE_TIMEOUT = Duration.minutes(10);

/**
 * The stack's custom resources, all answered by our own function: the cluster is checked before
 * anything is granted, definitions and rights are applied before anything runs with them, the
 * installer's own rights go when all does, nothing goes while nodes are there, and the memory is emptied when everything else is gone.
 */
export class Installer extends Construct {
  readonly #props: InstallerProps;

  constructor(scope: Construct, id: string, props: InstallerProps) {
    super(scope, id);
    this.#props = props;
  }

  /** Is the cluster there, does it take access entries, is its endpoint as the stack assumes? */
  check(): CustomResource {
    return this.#step('Check', INSTALL_STEPS.check, {
      Cluster: this.#props.cluster,
      Endpoint: this.#props.endpoint,
    });
  }

  /** May the roles go that the stack does not know any more? To be asked before they do. */
  roles(): CustomResource {
    return this.#step('Roles', INSTALL_STEPS.roles, {
      Cluster: this.#props.cluster,
      NodeRoles: this.#props.nodeRoles.join(','),
      LeaveNodes: String(this.#props.leaveNodes),
      ...this.#shadow(),
    });
  }

  /** Runs again whenever what it applies has changed. */
  apply(): CustomResource {
    const { cluster, fingerprint, lentPolicyArn, installCrds } = this.#props;
    return this.#step('Apply', INSTALL_STEPS.apply, {
      Cluster: cluster,
      Fingerprint: fingerprint,
      Admin: String(lentPolicyArn !== undefined),
      ...(installCrds ? {} : { Crds: 'checked' }),
      ...this.#shadow(),
    });
  }

  /** To be made after everything that has to run with what was applied. */
  settle(): CustomResource {
    const { cluster, endpoint, fingerprint, lentPolicyArn, handler } = this.#props;
    return this.#step('Settle', INSTALL_STEPS.settle, {
      Cluster: cluster,
      Endpoint: endpoint,
      Fingerprint: fingerprint,
      Policy: lentPolicyArn ?? '',
      Principal: handler.role?.roleArn ?? '',
      ...this.#shadow(),
    });
  }

  /** Runs again whenever one of them has changed. */
  settings(stated: Readonly<Record<string, string>>): CustomResource {
    return this.#step('Settings', INSTALL_STEPS.settings, {
      Cluster: this.#props.cluster,
      Settings: JSON.stringify(stated),
    });
  }

  /** `all`: the bucket is the stack's own. */
  data(bucketName: string, extent: 'all' | 'own'): CustomResource {
    return this.#step('Data', INSTALL_STEPS.data, {
      Cluster: this.#props.cluster,
      Bucket: bucketName,
      Extent: extent,
    });
  }

  /** To be made after everything else, so that it is the first to be deleted. */
  nodes(): CustomResource {
    const { cluster, leaveNodes, isShadow } = this.#props;
    return this.#step('Nodes', INSTALL_STEPS.nodes, {
      Cluster: cluster,
      LeaveNodes: String(leaveNodes || isShadow),
    });
  }

  #shadow(): Readonly<Record<string, string>> {
    return this.#props.isShadow ? { Shadow: 'true' } : {};
  }

  #step(
    id: string,
    step: InstallStep,
    properties: Readonly<Record<string, string>>,
  ): CustomResource {
    const resource = new CustomResource(this, id, {
      serviceToken: this.#props.handler.functionArn,
      resourceType: 'Custom::JoinerInstall',
      serviceTimeout: SERVICE_TIMEOUT,
      removalPolicy: RemovalPolicy.DESTROY,
      properties: { Step: step, ...properties },
    });
    // Events of CloudFormation are kept and tried again only once this is set.
    const settings = this.#props.handler.node.findAll().filter(isEventSetting);
    resource.node.addDependency(...settings);
    return resource;
  }
}

function isEventSetting(each: unknown): each is CfnResource {
  return each instanceof CfnResource && each.cfnResourceType === 'AWS::Lambda::EventInvokeConfig';
}
