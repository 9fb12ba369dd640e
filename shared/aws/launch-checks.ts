import { CreateFleetCommand, type EC2Client, RunInstancesCommand } from '@aws-sdk/client-ec2';
import type { FleetRequest } from '../ports/cloud.ts';
import { PortError } from '../ports/fault.ts';
import type { Calls } from './calls.ts';
import { isTransient } from './faults.ts';
import { fleetInput } from './fleet-request.ts';
import type { LaunchTemplates } from './launch-templates.ts';

/** A call that EC2 would refuse; `reason` is that of the condition ValidationSucceeded. */
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

/** What a dry run throws when it would have worked. https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateFleet.html */
const WOULD_WORK = 'DryRunOperation';

/** Undefined: it would have worked, or cannot be told from here. */
async function refusal(
  reason: LaunchRefusal['reason'],
  work: () => Promise<unknown>,
): Promise<LaunchRefusal | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    if (error.code === WOULD_WORK || isTransient(error)) return undefined;
    return { reason, message: `${error.code}: ${error.message}` };
  }
}

/**
 * Asks EC2 whether this role may launch what the class describes, without launching it (reference
 * 1.5, ValidationSucceeded). `sample` is a fleet of one line as `provision` would send it.
 */
export async function checkLaunch(
  { ec2, calls, templates }: LaunchCheckParts,
  sample: FleetRequest,
): Promise<LaunchRefusal | undefined> {
  const made = await refusal('CreateLaunchTemplateAuthCheckFailed', () =>
    templates.forFleet(sample),
  );
  if (made !== undefined) return made;
  const uses = await templates.forFleet(sample);
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
    (await refusal('CreateFleetAuthCheckFailed', () =>
      calls.run('ec2:CreateFleet', () => ec2.send(fleet)),
    )) ??
    (await refusal('RunInstancesAuthCheckFailed', () =>
      calls.run('ec2:RunInstances', () => ec2.send(instance)),
    ))
  );
}
