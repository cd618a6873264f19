package org.apache.iceberg

import scala.collection.JavaConverters._

/** Gives access to Apache Iceberg's index of delete files, which is private to its package. */
object PeerDeletes {

  /** Returns paths and offsets of the deletes that apply to a data file with a data sequence number. */
  def index(
      deletes: Seq[(Long, DeleteFile)],
      specs: Map[Int, PartitionSpec],
      schemas: Map[Int, Schema]
  ): (Long, DataFile) => Set[(String, Option[Long])] = {
    deletes.foreach { case (number, file) => file.asInstanceOf[BaseFile[_]].setDataSequenceNumber(number) }
    val made = DeleteFileIndex.builderFor(deletes.map(_._2).asJava)
      .specsById(specs.map { case (id, spec) => Int.box(id) -> spec }.asJava)
      .schemasById(schemas.map { case (id, schema) => Int.box(id) -> schema }.asJava)
      .build()
    (number, file) =>
      made.forDataFile(number, file).map(d => d.location -> Option(d.contentOffset).map(_.longValue)).toSet
  }
}
