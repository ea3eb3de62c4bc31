#include "call_contacts.hpp"

#include "contacts/contact_points.hpp"

namespace sarrus {

using namespace nb::literals;

namespace {

// (gap, normal, point_a, point_b, speed, status): arrays of the slots, and of the pairs
nb::tuple contacts(const Queries& s, In q, In v) {
  CheckedArguments c(s, {{q, "q", true}, {v, "v"}});
  NewArray gap = c.out({c.m.nslot}), normal = c.out({c.m.nslot, 3}), a = c.out({c.m.nslot, 3});
  NewArray b = c.out({c.m.nslot, 3}), speed = c.out({c.m.nslot, 3});
  auto status = c.out<int>({c.m.npair});
  c.run(s.k.tables.contacts.contacts, ContactArrays{gap, normal, a, b, speed, status});
  return nb::make_tuple(gap, normal, a, b, speed, status);
}

// First and second derivative of the gaps by time, for accelerations a
nb::tuple gap_rates(const Queries& s, In q, In v, In a) {
  CheckedArguments c(s, {{q, "q", true}, {v, "v"}, {a, "a"}});
  NewArray rate = c.out({c.m.nslot}), acceleration = c.out({c.m.nslot});
  c.run(s.k.tables.contacts.gap_rates, c.x[2], rate, acceleration);
  return nb::make_tuple(rate, acceleration);
}

// Numbers of the pairs that may be nearer than `reach` at one state
New<int> near_pairs_of(const Queries& s, In q, double reach) {
  CheckedArguments c(s, {{q, "q", true}});
  if (c.batch.rank) throw nb::value_error("`q` must be one state");
  Room<int> pairs(c.m.npair + 1);
  int count = 0;
  c.run(s.k.tables.contacts.near_pairs, reach, static_cast<int*>(pairs), &count);
  return New<int>({count}, pairs);
}

// Number of slots of two surfaces of these kinds; -1 where they are not known together
int slots_of(int kind_a, In values_a, int kind_b, In values_b) {
  Dense a(values_a), b(values_b);
  return contact_slots<double>(kind_a, a, kind_b, b);
}

}  // namespace

void bind_contacts(nb::module_& m, nb::class_<Queries>& queries) {
  m.def("contact_slots", &slots_of, "kind_a"_a, "values_a"_a, "kind_b"_a, "values_b"_a);
  queries.def("contacts", &contacts, "q"_a.none(), "v"_a.none());
  queries.def("near_pairs", &near_pairs_of, "q"_a.none(), "reach"_a,
              nb::sig("def near_pairs(self, q: object, reach: float) -> NDArray"));
  queries.def("gap_rates", &gap_rates, "q"_a.none(), "v"_a.none(), "a"_a.none(),
              nb::sig("def gap_rates(self, q: object, v: object, a: object) -> tuple[NDArray, NDArray]"));
}

}  // namespace sarrus
