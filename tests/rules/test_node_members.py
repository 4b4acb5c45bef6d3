"""KD246: what is a node of a layer, and what is not."""

import pytest

from kdoctor import scan
from kdoctor.rules.members.node_members import _MEMBERS
from tests.frameworks import keras, tf_keras


def found(body):
    source = f"import keras\n\n\ndef walk(layer, model, graph):\n    {body}\n"
    return len(
        scan(["-"], stdin=source.encode(), select=["KD246"], target="keras==3.15.1").findings
    )


@pytest.mark.parametrize(
    "body",
    [
        "return layer._inbound_nodes[0].outbound_layer",
        "return keras.layers.Dense(1).inbound_nodes[-1].inbound_layers",
        "return [node.layer for node in layer._outbound_nodes]",
        "for node in layer._inbound_nodes: node.keras_inputs",
        "node = layer._inbound_nodes[0]; return node.call_kwargs",
    ],
)
def test_a_node_of_a_layer_is_told(body):
    assert found(body) == 1


@pytest.mark.parametrize(
    "body",
    [
        "return graph.inbound_nodes[0].layer",
        "return keras.optimizers.SGD()._inbound_nodes[0].layer",
        "return graph.nodes[0].layer, layer._inbound_nodes",
        "return layer._inbound_nodes[0].operation.layer",
        "return layer._inbound_nodes.layer",
        "return layer._inbound_nodes[:1].layer",
        "return [pair.layer for pair in zip(layer._inbound_nodes, graph)]",
        "return [node.layer for _, node in graph], layer._inbound_nodes",
    ],
)
def test_anything_else_is_not(body):
    assert found(body) == 0


@pytest.mark.frameworks
@pytest.mark.parametrize("member", sorted(_MEMBERS))
def test_nodes_of_keras_2_have_each_member_and_those_of_keras_3_none(member):
    has = []
    for each in (tf_keras, keras):
        layer = each.layers.Dense(1)
        layer(each.layers.Input((2,)))
        has.append(hasattr(layer._inbound_nodes[0], member))
    assert has == [True, False]
