"""Longest paths from flip-flop to flip-flop through a mapped netlist: worst arrival and slew by net and edge, with the cells' delay tables."""


def longest(netlist, library, clock_slew, wire):
    """The longest path in ps, set-up included, if each pin that a net drives adds `wire` fF; and its cells, the first first."""
    cells = [(library.cells[cell["type"]], cell["connections"]) for cell in netlist["cells"].values()]
    load, driver, waits, readers = {}, {}, {}, {}
    for index, (cell, pins) in enumerate(cells):
        count = 0
        for pin, nets in pins.items():
            for net in nets:
                if pin in cell.outputs:
                    driver[net] = index
                else:
                    load[net] = load.get(net, 0.0) + cell.load.get(pin, 0.0) + wire
                    readers.setdefault(net, []).append(index)
        waits[index] = count
    arrival, slew, source = {}, {}, {}
    for index, (cell, pins) in enumerate(cells):
        if cell.clock is None:
            waits[index] = sum(1 for pin, nets in pins.items() if pin not in cell.outputs for net in nets if net in driver)
    ready = [index for index, (cell, _) in enumerate(cells) if cell.clock is not None or waits[index] == 0]
    while ready:
        index = ready.pop()
        cell, pins = cells[index]
        for pin, arcs in cell.outputs.items():
            for net in pins.get(pin, []):
                drive(cell, pins, arcs, net, arrival, slew, source, load.get(net, 0.0), clock_slew)
                for reader in readers.get(net, []):
                    waits[reader] -= 1
                    if waits[reader] == 0 and cells[reader][0].clock is None:
                        ready.append(reader)
    worst, end = 0.0, None
    for cell, pins in cells:
        for pin, tables in cell.setup.items():
            for net in pins.get(pin, []):
                for edge in (0, 1):
                    if (net, edge) in arrival:
                        # Set-up tables are over the clock's slew and the data's, in either order.
                        setup = max(table.at(slew[net, edge], clock_slew) for table in tables)
                        if arrival[net, edge] + setup > worst:
                            worst, end = arrival[net, edge] + setup, (net, edge)
    path = []
    while end is not None:
        path.append(cells[driver[end[0]]][0].name)
        end = source[end]
    return worst, path[::-1]


def drive(cell, pins, arcs, net, arrival, slew, source, load, clock_slew):
    """Arrival and slew of what a cell drives."""
    for related, sense, edges in arcs:
        for edge, (delay, transition) in enumerate(edges):
            if sense == "edge":
                starts = [(0.0, clock_slew, None)]
            else:
                before = {"positive_unate": [edge], "negative_unate": [1 - edge]}.get(sense, [0, 1])
                inputs = [(name, old) for name in pins.get(related, []) for old in before]
                starts = [(arrival[key], slew[key], key) for key in inputs if key in arrival]
            for at, ramp, key in starts:
                then = at + delay.at(ramp, load)
                if then > arrival.get((net, edge), -1.0):
                    arrival[net, edge], source[net, edge] = then, key
                slew[net, edge] = max(slew.get((net, edge), 0.0), transition.at(ramp, load))
