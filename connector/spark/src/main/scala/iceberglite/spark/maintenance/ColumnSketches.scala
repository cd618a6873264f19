package iceberglite.spark.maintenance

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.puffin.ThetaSketch
import iceberglite.spark.cluster.ClusterJob
import iceberglite.spark.convert.SparkValues
import iceberglite.spark.conf.TimeTravel
import iceberglite.spark.table.SparkTable
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.types.{NestedField, PrimitiveType}
import iceberglite.spec.types.Type._
import iceberglite.table.Table

/** Computes sketches of the distinct values of columns, with a Spark job. */
private[iceberglite] object ColumnSketches {

  /** Returns the sketches of the given columns of a snapshot, in the same order. */
  def of(session: SparkSession, table: Table, snapshot: Snapshot, columns: Vector[NestedField]): Vector[ThetaSketch] = {
    val sparkTable = new SparkTable(() => table, TimeTravel.AtSnapshot(snapshot.snapshotId))
    val relation = DataSourceV2Relation.create(sparkTable, None, None, CaseInsensitiveStringMap.empty)
    val attributes = columns.map(column => relation.output.find(_.name == column.name).get)
    val types = columns.zip(attributes).collect { case (NestedField(_, _, t: PrimitiveType, _, _, _, _), attribute) =>
      (t, attribute.dataType)
    }
    val rows = session.sessionState.executePlan(Project(attributes, relation)).toRdd
    val description = s"Counting distinct values of ${columns.size} columns of ${table.name}"
    ClusterJob.withDescription(session.sparkContext, description) {
      val sketches = rows.mapPartitions(part => Iterator.single(ofRows(part, types)))
      val merged = if (sketches.getNumPartitions == 0) ofRows(Iterator.empty, types) else sketches.treeReduce(merge)
      merged.map(ThetaSketch.parse(table.name, _)).toVector
    }
  }

  private def ofRows(rows: Iterator[InternalRow], types: Vector[(PrimitiveType, DataType)]): Array[Array[Byte]] = {
    val builders = types.map(_ => ThetaSketch.newBuilder).toArray
    val encoders = types.map { case (t, dataType) => encoder(t, dataType) }.toArray
    rows.foreach { row =>
      var i = 0
      while (i < builders.length) {
        if (!row.isNullAt(i)) encoders(i)(row, i, builders(i))
        i += 1
      }
    }
    builders.map(_.result().toBytes)
  }

  private def merge(a: Array[Array[Byte]], b: Array[Array[Byte]]): Array[Array[Byte]] = a.zip(b).map { case (x, y) =>
    ThetaSketch.parse("a task", x).union(ThetaSketch.parse("a task", y)).toBytes
  }

  /** A function that adds the value of a row at an index to a sketch. */
  private type Encoder = (InternalRow, Int, ThetaSketch.Builder) => Unit

  private def encoder(t: PrimitiveType, dataType: DataType): Encoder = t match {
    case IntType | DateType =>
      val bytes = new Array[Byte](4)
      (row, i, sketch) => {
        put(row.getInt(i).toLong, bytes)
        sketch.addBytes(bytes)
      }
    case LongType | TimestampType | TimestampTzType | TimeType | TimestampNsType | TimestampTzNsType =>
      val bytes = new Array[Byte](8)
      (row, i, sketch) => {
        put(row.getLong(i), bytes)
        sketch.addBytes(bytes)
      }
    case FloatType =>
      val bytes = new Array[Byte](4)
      (row, i, sketch) => {
        put(java.lang.Float.floatToIntBits(row.getFloat(i)).toLong, bytes)
        sketch.addBytes(bytes)
      }
    case DoubleType =>
      val bytes = new Array[Byte](8)
      (row, i, sketch) => {
        put(java.lang.Double.doubleToLongBits(row.getDouble(i)), bytes)
        sketch.addBytes(bytes)
      }
    case StringType => (row, i, sketch) => sketch.addBytes(row.getUTF8String(i).getBytes)
    case BinaryType => (row, i, sketch) => sketch.addBytes(row.getBinary(i))
    case _ => (row, i, sketch) => SparkValues.fromSpark(row.get(i, dataType), t).foreach(sketch += _)
  }

  /** Stores a number in an array, with the least significant byte first. */
  private def put(value: Long, bytes: Array[Byte]): Unit = {
    var i = 0
    while (i < bytes.length) {
      bytes(i) = (value >>> (8 * i)).toByte
      i += 1
    }
  }
}
