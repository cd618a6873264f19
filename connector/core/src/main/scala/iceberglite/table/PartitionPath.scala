package iceberglite.table

import java.net.URLEncoder
import java.nio.charset.StandardCharsets.UTF_8

import iceberglite.spec.{PartitionSpec, PartitionTuple}

/** A partition as a path, as Hive writes it: `day=2024-01-31/region=a%2Fb`. */
object PartitionPath {
  def of(spec: PartitionSpec, tuple: PartitionTuple): String =
    spec.fields.zip(tuple.values).map { case (field, value) =>
      encode(field.name) + "=" + encode(value.fold("null")(field.transform.toHuman))
    }.mkString("/")

  private def encode(text: String): String = URLEncoder.encode(text, UTF_8)
}
