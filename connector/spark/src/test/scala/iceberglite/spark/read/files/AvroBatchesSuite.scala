package iceberglite.spark.read.files

import java.io.ByteArrayOutputStream
import java.util.Collections

import org.apache.avro.{Schema => AvroSchema}
import org.apache.avro.file.DataFileWriter
import org.apache.avro.generic.{GenericData, GenericDatumWriter, GenericRecord}
import org.scalatest.tagobjects.Slow

import iceberglite.data.avro.AvroData
import iceberglite.spark.read.avro.AvroBatches
import iceberglite.spark.read.formats.BatchFormat
import iceberglite.spec.partition.PartitionSpec
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField.{optional, required}
import iceberglite.spec.types.Type.{ListType, LongType, UnknownType}

class AvroBatchesSuite extends FileBatchTests(AvroData) {
  override protected def reader: BatchFormat = AvroBatches

  override protected def manyParts: Map[String, String] = Map("write.avro.compression-codec" -> "snappy")

  /** Returns a file of another writer. Each row has an id and a list of nulls, which take no bytes in the file. */
  private def listsOfNulls(rows: Int, elements: Int): Array[Byte] = {
    val schema = new AvroSchema.Parser().parse(
      """{"type":"record","name":"r","fields":[{"name":"id","type":"long","field-id":1},
        {"name":"n","type":{"type":"array","items":"null","element-id":3},"field-id":2}]}"""
    )
    val out = new ByteArrayOutputStream
    val writer = new DataFileWriter[GenericRecord](new GenericDatumWriter[GenericRecord](schema)).create(schema, out)
    (0 until rows).foreach { i =>
      val row = new GenericData.Record(schema)
      row.put("id", i.toLong)
      row.put("n", Collections.nCopies(elements, None.orNull))
      writer.append(row)
      // End the block, because the number of such elements in a block is limited.
      if (i % 100 == 99) writer.sync()
    }
    writer.close()
    out.toByteArray
  }

  test("list elements that take no bytes count towards the size of a batch", Slow) {
    val fields =
      Vector(required(1, "id", LongType), optional(2, "n", ListType(3, UnknownType, elementRequired = false)))
    val file = new TestFile(Schema(0, fields), Nil, bytes = Some(listsOfNulls(rows = 200, elements = 100000)))
    val values = new FileValues(Map(0 -> PartitionSpec.Unpartitioned), Set.empty, capacity)
    val batches = file.open(file.task(), fields, values)
    val sizes =
      try Iterator.continually(batches).takeWhile(_.next()).map { b =>
          (0 until b.batch.numRows).map { i =>
            val list = b.batch.getRow(i).getArray(1)
            assert(list.isNullAt(list.numElements - 1))
            list.numElements
          }
        }.toVector
      finally batches.close()
    assert(sizes.size == 2 && sizes.flatten == Vector.fill(200)(100000))
    assert(file.batches(file.task(), fields.take(1)).size == 200)
  }
}
