package joiner

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

func amounts(list corev1.ResourceList) map[string]string {
	out := map[string]string{}
	for name, quantity := range list {
		out[string(name)] = quantity.String()
	}
	return out
}

func overhead(o *cloudprovider.InstanceTypeOverhead) map[string]any {
	if o == nil {
		return map[string]any{}
	}
	return map[string]any{
		"kubeReserved":      amounts(o.KubeReserved),
		"systemReserved":    amounts(o.SystemReserved),
		"evictionThreshold": amounts(o.EvictionThreshold),
	}
}

// labels are those of a type as a case has them; an empty list: its nodes never have the label.
func labels(name string, reqs scheduling.Requirements) map[string][]string {
	out := map[string][]string{}
	for key, req := range reqs {
		switch req.Operator() {
		case corev1.NodeSelectorOpIn:
			out[key] = req.Values()
		case corev1.NodeSelectorOpDoesNotExist:
			out[key] = []string{}
		default:
			Doubt("instance type %s: requirement %s", name, req)
		}
	}
	return out
}

func offering(typeName string, o *cloudprovider.Offering) map[string]any {
	out := map[string]any{
		"zone": o.Zone(), "capacityType": o.CapacityType(), "price": o.Price, "available": o.Available,
	}
	if o.CapacityType() == v1.CapacityTypeReserved {
		out["reservationId"], out["reservationCapacity"] = o.ReservationID(), o.ReservationCapacity
	}
	if o.CapacityOverride != nil {
		out["capacityOverride"] = amounts(o.CapacityOverride)
	}
	if o.OverheadOverride != nil {
		out["overheadOverride"] = overhead(o.OverheadOverride)
	}
	for key, req := range o.Requirements {
		switch key {
		case corev1.LabelTopologyZone, v1.CapacityTypeLabelKey, cloudprovider.ReservationIDLabel:
		default:
			Doubt("an offering of %s: requirement %s", typeName, req)
		}
	}
	return out
}

// Names are those of instance types in a case, unique within a pool: some tests have several types
// of one name.
type Names struct {
	byPool map[string]map[string]*cloudprovider.InstanceType
}

// Of is the type that the plan calls so.
func (n Names) Of(pool, name string) *cloudprovider.InstanceType { return n.byPool[pool][name] }

// InstanceTypes has the types of each pool; a type that pools share is there once.
func InstanceTypes(
	pools []string, byPool map[string][]*cloudprovider.InstanceType,
) ([]map[string]any, Names) {
	out := []map[string]any{}
	names := Names{byPool: map[string]map[string]*cloudprovider.InstanceType{}}
	at := map[*cloudprovider.InstanceType]map[string]any{}
	for _, pool := range pools {
		own := map[string]*cloudprovider.InstanceType{}
		names.byPool[pool] = own
		for _, it := range byPool[pool] {
			name := it.Name
			for again := 2; own[name] != nil; again++ {
				name = fmt.Sprintf("%s.again-%d", it.Name, again)
			}
			own[name] = it
			if shared, ok := at[it]; ok && shared["name"] == name {
				shared["nodePools"] = append(shared["nodePools"].([]string), pool)
				continue
			}
			at[it] = instanceType(pool, name, it)
			out = append(out, at[it])
		}
	}
	return out, names
}

func instanceType(pool, name string, it *cloudprovider.InstanceType) map[string]any {
	offerings := []map[string]any{}
	for _, o := range it.Offerings {
		offerings = append(offerings, offering(it.Name, o))
	}
	requirements := labels(it.Name, it.Requirements)
	if name != it.Name {
		Doubt("pool %s has several types %s", pool, it.Name)
		requirements[corev1.LabelInstanceTypeStable] = []string{name}
	}
	return map[string]any{
		"name": name, "capacity": amounts(it.Capacity), "overhead": overhead(it.Overhead),
		"requirements": requirements, "offerings": offerings, "nodePools": []string{pool},
	}
}

// NodePool is the pool as it would be on AWS. Its conditions are left out: a scheduler gets only
// pools that are ready.
func NodePool(np *v1.NodePool) *v1.NodePool {
	np = np.DeepCopy()
	np.APIVersion, np.Kind = "karpenter.sh/v1", "NodePool"
	np.ManagedFields = nil
	np.Status.Conditions = nil
	onAWS(np.Spec.Template.Spec.NodeClassRef)
	return np
}

// NodeClaim is the claim as it would be on AWS.
func NodeClaim(nc *v1.NodeClaim) *v1.NodeClaim {
	nc = nc.DeepCopy()
	nc.APIVersion, nc.Kind = "karpenter.sh/v1", "NodeClaim"
	nc.ManagedFields = nil
	onAWS(nc.Spec.NodeClassRef)
	return nc
}

func onAWS(ref *v1.NodeClassReference) {
	if ref != nil {
		ref.Group, ref.Kind = "karpenter.k8s.aws", "EC2NodeClass"
	}
}
