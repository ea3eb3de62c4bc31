// Contact points for one instruction set (SARRUS_ISA).
#include "contact_batches.hpp"

SARRUS_BEGIN

const ContactTable& contact_table() {
  static const ContactTable table = {
      .contacts = contacts_n,
      .near_pairs = near_pairs_n,
      .gap_rates = gap_rates_n,
  };
  return table;
}

SARRUS_END
