package iceberglite.spark.read.files

import iceberglite.data.avro.AvroData
import iceberglite.spark.read.avro.AvroBatches
import iceberglite.spark.read.deletes.FileDeletes
import iceberglite.storage.FileIO

class AvroBatchesSuite extends FileBatchTests(AvroData) {
  override protected def open(
      task: FileTask,
      columns: FileColumns,
      io: FileIO,
      capacity: Int,
      deletes: Option[FileDeletes]
  ): FileBatches = AvroBatches.open(task, columns, io, capacity, deletes)

  override protected def manyParts: Map[String, String] = Map("write.avro.compression-codec" -> "snappy")
}
