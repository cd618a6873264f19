package iceberglite.spark.write
import java.util.Collections
import org.apache.hadoop.conf.Configuration
import org.apache.iceberg.catalog.TableIdentifier
import org.apache.iceberg.hadoop.HadoopCatalog
import org.apache.iceberg.types.Types
import org.apache.iceberg.{PartitionSpec => PeerSpec, Schema => PeerSchema}
import org.scalatest.funsuite.AnyFunSuite
import iceberglite.spark.SharedSession
class UuidScratchSuite extends AnyFunSuite with WriteFixture {
  for (bucketed <- Seq(false, true); writer <- Seq("ice", "lite")) test(s"$bucketed $writer") {
    val t = newTable()
    val schema = new PeerSchema(Types.NestedField.required(1, "id", Types.LongType.get), Types.NestedField.optional(2, "u", Types.UUIDType.get))
    val catalog = new HadoopCatalog(new Configuration(), SharedSession.warehouse.toUri.toString)
    val parts = t.split('.')
    catalog.createTable(TableIdentifier.of(parts(1), parts(2)), schema, if (bucketed) PeerSpec.builderFor(schema).bucket("u", 4).build() else PeerSpec.unpartitioned, Collections.emptyMap[String, String])
    sql(s"INSERT INTO ${if (writer == "ice") peer(t) else t} SELECT /*+ COALESCE(1) */ id, concat(if (id < 5, 'f', '0'), '000000', id % 10, '-677c-4bbd-a479-3f349cb785', if(id<10,'a','b'), id % 10) FROM range(20)")
    rows(s"select hex(lower_bounds[2]), hex(upper_bounds[2]), record_count from ${peer(t)}.files").foreach(println)
    for (reader <- Seq(t, peer(t))) {
      val bad = rows(s"SELECT id, u FROM $t").filter { row => rows(s"SELECT id FROM $reader WHERE u = '${row.getString(1)}'").map(_.getLong(0)) != Seq(row.getLong(0)) }
      println(s"bucketed $bucketed writer $writer reader $reader missing ${bad.size} $bad")
    }
  }
}
