package iceberglite.spec.types

/** The names of the fields in which files store a variant (Parquet: "Variant Shredding"). */
private[iceberglite] object VariantFields {
  val Metadata = "metadata"
  val Value = "value"

  /** The field with the values that are not encoded. */
  val TypedValue = "typed_value"

  /** The fields of a variant that is completely encoded. */
  val Encoded: Vector[String] = Vector(Metadata, Value)
}
