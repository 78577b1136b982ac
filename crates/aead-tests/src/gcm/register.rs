use sealsim_aead::gcm::register::*;

#[test]
fn the_fields_of_an_index_do_not_touch() {
    let fields = [Field::Place, Field::Part, Field::Unit, Field::Stage];
    let index = fields.iter().zip([1, TABLE, 0xabcd, 4]).fold(0, |index, (field, value)| index | field.put(value));
    assert_eq!(fields.map(|field| field.of(index)), [1, TABLE, 0xabcd, 4]);
    assert_eq!(fields.iter().fold(index, |index, field| field.cleared(index)), 0);
}
