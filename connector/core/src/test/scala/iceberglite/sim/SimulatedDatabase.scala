package iceberglite.sim

import java.lang.reflect.{InvocationHandler, InvocationTargetException, Method, Proxy}
import java.sql.{Connection, Driver, DriverPropertyInfo, PreparedStatement, SQLException}
import java.util.Properties
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicLong
import java.util.logging.Logger

import scala.reflect.ClassTag

import iceberglite.catalog.Catalogs
import iceberglite.storage.FileIO
import iceberglite.table.{Committer, Environment}

/** The JDBC catalog on an in-memory SQLite database, with faults in SQL statements and connections. */
object SimulatedDatabase extends SimulatedCatalog.Family {
  private val Prefix = "jdbc:simulated:"
  private val counter = new AtomicLong
  private val sessions = new ConcurrentHashMap[String, Session]

  /**
   * The data that the connections of one catalog object share.
   *
   * @param caller executes the statements and may inject faults; `None` if no statement has a fault
   * @param server the connection on which delayed statements run
   */
  final private case class Session(caller: Option[Simulation#Caller], server: Connection)

  override def name: String = "jdbc"

  override def make(simulation: Simulation, settings: Settings): SimulatedCatalog = new SimulatedCatalog {
    private val database = s"sim${counter.incrementAndGet()}"
    private val real = s"jdbc:sqlite:file:$database?mode=memory&cache=shared"
    private val keeper = new org.sqlite.JDBC().connect(real, new Properties)
    private var opened = Vector.empty[(String, AutoCloseable)]

    override def open(caller: Simulation#Caller, io: FileIO, environment: Environment): Committer =
      connect(Some(caller), io, environment)

    override def openSafely(io: FileIO, environment: Environment): Committer = connect(None, io, environment)

    private def connect(caller: Option[Simulation#Caller], io: FileIO, environment: Environment): Committer = {
      val key = s"$database-${opened.size}"
      sessions.put(key, Session(caller, keeper))
      val properties = Map("type" -> "jdbc", "warehouse" -> "mem://wh", "uri" -> s"$Prefix$key;$real")
      val catalog = Catalogs.open("sim", properties, io, environment)
      opened :+= key -> catalog
      catalog
    }

    /** Returns `None`, because the database contains only the newest metadata location. */
    override def published: Option[Vector[String]] = None

    override def close(): Unit = {
      opened.foreach { case (key, catalog) =>
        sessions.remove(key)
        catalog.close()
      }
      keeper.close()
    }
  }

  /** A JDBC driver, registered as a service, that opens SQLite connections with faults for URLs with its own prefix. */
  final class SimulatedDriver extends Driver {
    override def acceptsURL(url: String): Boolean = url.startsWith(Prefix)

    override def connect(url: String, info: Properties): Connection = if (!acceptsURL(url)) None.orNull
    else {
      val Array(key, real) = url.stripPrefix(Prefix).split(";", 2)
      val connection = new org.sqlite.JDBC().connect(real, info)
      val session = sessions.get(key)
      session.caller.fold(connection)(new Failing(connection, _, session.server).proxy)
    }

    override def getPropertyInfo(url: String, info: Properties): Array[DriverPropertyInfo] = Array.empty
    override def getMajorVersion: Int = 1
    override def getMinorVersion: Int = 0
    override def jdbcCompliant: Boolean = false
    override def getParentLogger: Logger = Logger.getGlobal
  }

  /** A connection that breaks when a fault makes the outcome of a statement unknown. */
  final private class Failing(real: Connection, caller: Simulation#Caller, server: Connection) {
    private var broken = false

    val proxy: Connection = proxyOf[Connection] { (method, arguments) =>
      if (broken && method.getName == "isValid") java.lang.Boolean.FALSE
      else if (broken && method.getName != "close") throw new SQLException("The connection is gone", "08003")
      else if (method.getName == "prepareStatement") {
        val sql = arguments.head.asInstanceOf[String]
        statement(sql, invoke(real, method, arguments).asInstanceOf[PreparedStatement])
      } else invoke(real, method, arguments)
    }

    private def statement(sql: String, inner: PreparedStatement): PreparedStatement = {
      var parameters = Vector.empty[String]
      proxyOf[PreparedStatement] { (method, arguments) =>
        if (method.getName == "setString") parameters :+= arguments(1).asInstanceOf[String]
        if (!method.getName.startsWith("execute")) invoke(inner, method, arguments)
        else executeWithFaults(sql, parameters)(() => invoke(inner, method, arguments))
      }
    }

    private def executeWithFaults(sql: String, parameters: Vector[String])(run: () => AnyRef): AnyRef = {
      val isQuery = sql.startsWith("SELECT")
      val faults = if (isQuery) CallFault.ofReads else CallFault.all.filterNot(_ == CallFault.Repeated)
      val what = sql.take(if (isQuery) 30 else 20)
      caller(Call(what, faults, run, () => busy, () => lost(), () => later(sql, parameters)))
    }

    /** The error of a statement that the database rolled back. */
    private def busy: SQLException = new SQLException("The transaction was rolled back", "40001")

    private def lost(): SQLException = {
      broken = true
      new SQLException("The connection broke", "08006")
    }

    /** Runs a statement that the database server has received, but had not executed when the connection broke. */
    private def later(sql: String, parameters: Vector[String]): Unit = {
      val statement = server.prepareStatement(sql)
      try {
        parameters.zipWithIndex.foreach { case (value, i) => statement.setString(i + 1, value) }
        statement.executeUpdate()
        ()
      } catch { case _: SQLException => () }
      finally statement.close()
    }
  }

  private def invoke(target: AnyRef, method: Method, arguments: Seq[AnyRef]): AnyRef =
    try method.invoke(target, arguments: _*)
    catch { case e: InvocationTargetException => throw e.getCause }

  private def proxyOf[A](handle: (Method, Seq[AnyRef]) => AnyRef)(implicit tag: ClassTag[A]): A = {
    val handler = new InvocationHandler {
      override def invoke(proxy: AnyRef, method: Method, arguments: Array[AnyRef]): AnyRef =
        handle(method, Option(arguments).toSeq.flatten)
    }
    Proxy.newProxyInstance(getClass.getClassLoader, Array(tag.runtimeClass), handler).asInstanceOf[A]
  }
}
