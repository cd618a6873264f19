package iceberglite.spark.read.files

import iceberglite.data.avro.AvroData
import iceberglite.spark.read.avro.AvroBatches
import iceberglite.spark.read.formats.BatchFormat

class AvroBatchesSuite extends FileBatchTests(AvroData) {
  override protected def reader: BatchFormat = AvroBatches

  override protected def manyParts: Map[String, String] = Map("write.avro.compression-codec" -> "snappy")
}
