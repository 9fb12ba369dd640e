import { CreateFleetCommand, type EC2Client, RunInstancesCommand } from '@aws-sdk/client-ec2';
import type { FleetRequest } from '../ports/cloud.ts';
import { PortError } from '../ports/fault.ts';
import type { Calls } from './calls.ts';
import { fleetInput } from './fleet-request.ts';
import type { LaunchTemplates, TemplateUse } from './launch-templates.ts';

/** A call that is not allowed to the role; `reason` is that of the condition ValidationSucceeded. */
export interface LaunchRefusal {
  readonly reason:
    | 'CreateLaunchTemplateAuthCheckFailed'
    | 'CreateFleetAuthCheckFailed'
    | 'RunInstancesAuthCheckFailed';
  readonly message: string;
}

export interface LaunchCheckParts {
  readonly ec2: EC2Client;
  readonly calls: Calls;
  readonly templates: LaunchTemplates;
}

/** Undefined: the fault is about something else than what the role may do. */
function refusal(reason: LaunchRefusal['reason'], fault: PortError): LaunchRefusal | undefined {
  if (fault.kind !== 'unauthorised') return undefined;
  return { reason, message: `${fault.code}: ${fault.message}` };
}

/**
 * A dry run always throws: `DryRunOperation` where it would have worked. What EC2 says else but
 * that it is not allowed proves nothing against the class: it is about the sample, whose type the
 * first zone may not offer, or about the moment. Karpenter counts it for nothing, too; it tries
 * again until it is told one or the other.
 * https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateFleet.html
 */
async function dryRun(
  reason: LaunchRefusal['reason'],
  work: () => Promise<unknown>,
): Promise<LaunchRefusal | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return refusal(reason, error);
  }
}

/** Made for real, so that any other fault is the class's own, or EC2's, and thrown as it is. */
async function templatesFor(
  templates: LaunchTemplates,
  sample: FleetRequest,
): Promise<readonly TemplateUse[] | LaunchRefusal> {
  try {
    return await templates.forFleet(sample);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    const refused = refusal('CreateLaunchTemplateAuthCheckFailed', error);
    if (refused === undefined) throw error;
    return refused;
  }
}

/**
 * Asks EC2 whether this role may launch what the class describes, without launching it (reference
 * 1.5, ValidationSucceeded). `sample` is a fleet of one line as `provision` would send it.
 * Undefined: nothing says that it may not.
 */
export async function checkLaunch(
  { ec2, calls, templates }: LaunchCheckParts,
  sample: FleetRequest,
): Promise<LaunchRefusal | undefined> {
  const uses = await templatesFor(templates, sample);
  if ('reason' in uses) return uses;
  const fleet = new CreateFleetCommand({ ...fleetInput(sample, uses), DryRun: true });
  const [use] = uses;
  const [line] = sample.overrides;
  const instance = new RunInstancesCommand({
    DryRun: true,
    MinCount: 1,
    MaxCount: 1,
    LaunchTemplate: { LaunchTemplateName: use?.name, Version: '$Latest' },
    InstanceType: line?.instanceType as never,
    ImageId: line?.imageId,
  });
  return (
    (await dryRun('CreateFleetAuthCheckFailed', () =>
      calls.run('ec2:CreateFleet', () => ec2.send(fleet)),
    )) ??
    (await dryRun('RunInstancesAuthCheckFailed', () =>
      calls.run('ec2:RunInstances', () => ec2.send(instance)),
    ))
  );
}
